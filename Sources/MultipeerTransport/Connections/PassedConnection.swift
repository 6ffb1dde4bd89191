import MultipeerCore

/// An accepted connection on its way from the driver that accepted it to the one that it is for.
///
/// Its socket closes if that driver does not take it.
final class PassedConnection: Sendable {
    private let socket: Locked<Socket?>
    let remote: SocketAddress
    /// When it was accepted: its deadline counts from then.
    let time: Moment
    /// What was received on it so far.
    let received: [UInt8]

    init(_ socket: consuming Socket, from remote: SocketAddress, at time: Moment, received: [UInt8] = []) {
        self.socket = Locked(socket)
        self.remote = remote
        self.time = time
        self.received = received
    }

    /// Returns the socket, once.
    func takeSocket() -> Socket? { socket.withLock { $0.take() } }

    func pass(to driver: some ListeningDriver) {
        Task.following(on: driver.loop.taskExecutor) { await driver.take(self) }
    }
}
