import MultipeerPlatform

/// The listener of a session of the reference peer.
final class PeerListener: PollSource {
    private let socket: TCPSocket
    private let loop: PollLoop
    private var resting: Instant?
    private let bug: Bug?
    private var accepts = 0
    private(set) var port: UInt16
    /// Takes an accepted connection, and the address of its other end.
    var take: (TCPSocket, [UInt8]) -> Void = { _, _ in }

    /// * `place`: where it listens, with port 0 for any.
    init(_ loop: PollLoop, at place: Candidate = .loopback(0), bug: Bug? = nil) throws(SuiteFault) {
        self.bug = bug
        socket = try TCPSocket.listening(on: place.address, port: place.port, zone: place.zone)
        port = socket.localPort
        self.loop = loop
        loop.add(self)
    }

    var descriptor: Int32 { socket.descriptor }
    var wantsToRead: Bool { resting.map { $0 < .now } ?? true }
    var wantsToWrite: Bool { false }

    func move() {
        while let accepted = socket.accept() {
            accepts += 1
            if bug == .stopsAccepting, accepts > 1_000 { return close() }
            take(accepted, accepted.remoteAddress)
        }
        // Without descriptors accepting must not spin.
        if bug == .spinsWithoutDescriptors { return }
        resting = errno == EMFILE || errno == ENFILE ? .now + .milliseconds(200) : nil
    }

    func close() {
        loop.remove(self)
        socket.close()
    }
}
