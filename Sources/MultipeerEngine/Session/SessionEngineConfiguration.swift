import MultipeerCore
import MultipeerFraming
package import MultipeerLink

/// What holds for every instance of one session.
package struct SessionEngineConfiguration: Sendable {
    /// Peers of the mesh at most, the local one included; links are one fewer. [limit.links]
    package var peers: Int
    package var timing: Liveness.Timing
    /// The session joins no mesh: its peers are not introduced to each other. [mesh.star]
    package var isStar: Bool
    /// Unreliable messages may go over UDP, and connection data says so. [dgram.offer]
    package var takesDatagrams: Bool
    package var datagramTiming: DatagramPath.Timing
    /// Bytes of channels that all links together may hold unread. [limit.memory]
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
