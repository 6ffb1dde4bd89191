import MultipeerCore
import MultipeerFraming
import MultipeerHandshake

/// The TCP connections of one owner. Lives on the loop, whose buffers they share.
final class Sockets {
    var connections = ConnectionMap<SocketConnection>()
    /// Those that may have something to write, besides those that the engine names.
    var dirty: Set<ConnectionID> = []
    /// Those that could not write everything in their turn.
    var unfinished: Set<ConnectionID> = []
    /// The list of those that were written last, emptied: its memory is reused.
    var emptied: [ConnectionID] = []
    /// The engine's actions are being carried out: those that follow from them wait for their turn.
    var isCarryingOut = false
    /// Those that were dialled, while it is not known whether large packets arrive.
    var watched: Set<ConnectionID> = []
    /// The addresses of this machine from which peers were dialled.
    var dialledFrom: Set<SocketAddress.Host> = []
    /// The listening sockets; nil while the driver does not listen.
    var acceptor: Acceptor?
    /// When paused accepting resumes.
    var acceptResumes: Moment?
    private let loop: EventLoop
    /// Released with the last owner on the loop.
    private(set) lazy var buffers = loop.buffers
    private(set) lazy var streams = buffers.streams

    init(_ loop: EventLoop) { self.loop = loop }

    /// Bytes of one receive, and of one read of the channel.
    static let batch = 131_072
    /// The same for a connection that is not a link.
    static let beforeLink = 16_384
    /// Two of the longest frames.
    static let frames = 2 * (FrameHeader.byteCount + 65_536)

    /// When the next of the watched connections is to be looked at.
    var nextLook: Moment? {
        if watched.isEmpty { return nil }
        return watched.lazy.compactMap { [connections] in connections[$0]?.watch?.nextLook }.min()
    }

    func unwatch(_ connection: SocketConnection) {
        connection.watch = nil
        watched.remove(connection.id)
    }

    /// Whether a connection is being made that may become a link.
    var isConnecting: Bool { connections.values.contains { $0.link == nil && !$0.isClosing } }

    /// The connection that is the link to this peer.
    func link(to uid: UID) -> SocketConnection? { connections.values.first { $0.link?.peer.uid == uid } }

    /// Sorted by their numbers.
    var ordered: [SocketConnection] { connections.values }

    /// Adds the dirty connections to those that the engine names, each once, and sorts them.
    func addDirty(to due: inout [ConnectionID]) {
        if !dirty.isEmpty {
            for id in due { dirty.remove(id) }
            due.append(contentsOf: dirty)
            dirty.removeAll(keepingCapacity: true)
        }
        if due.count > 1 { due.sort() }
    }

    /// Makes what could not be written in its turn due again.
    func resume() {
        if unfinished.isEmpty { return }
        dirty.formUnion(unfinished)
        unfinished = []
    }
}
