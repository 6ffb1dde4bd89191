import MultipeerCore
import MultipeerFraming
package import MultipeerLink

/// The configuration of every instance of one session.
package struct SessionEngineConfiguration: Sendable {
    /// The maximum number of peers in the mesh, including the local one; links are one fewer. [limit.links]
    package var peers: Int
    package var timing: Liveness.Timing
    /// Whether the session joins no mesh: its peers are not introduced to each other. [mesh.star]
    package var isStar: Bool
    /// Whether unreliable messages may use UDP, as announced in connection data. [dgram.offer]
    package var takesDatagrams: Bool
    package var datagramTiming: DatagramPath.Timing
    /// The maximum number of unread channel bytes of all links together. [limit.memory]
    package var memory: Int

    package init(
        peers: Int = Limits.peers, timing: Liveness.Timing = .init(), isStar: Bool = false,
        takesDatagrams: Bool = false, datagramTiming: DatagramPath.Timing = .init(),
        memory: Int = ReceiveMemory.limit
    ) {
        self.peers = peers
        self.timing = timing
        self.isStar = isStar
        self.takesDatagrams = takesDatagrams
        self.memory = memory
        self.datagramTiming = datagramTiming
    }
}
