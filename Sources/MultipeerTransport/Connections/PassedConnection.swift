import MultipeerCore

/// An accepted connection on its way from the session that accepted it to the listener for invitations.
///
/// It has one of the few places that the port has for such connections, until it is released. Its socket closes if the listener does
/// not take it.
final class PassedConnection: Sendable {
    private let port: SharedPort
    private let socket: Locked<Socket?>
    let remote: SocketAddress
    /// When it was accepted: its deadline counts from then.
    let time: Moment
    /// What was received on it so far.
    let received: [UInt8]
    let isRefused: Bool

    /// Returns nil when no place is free, or the socket cannot be duplicated.
    init?(
        _ original: borrowing Socket, from remote: SocketAddress, at time: Moment, received: [UInt8],
        isRefused: Bool, on port: SharedPort
    ) {
        guard port.takePlace() else { return nil }
        do throws(SocketFault) {
            socket = Locked(try original.duplicate())
        } catch {
            port.givePlaceBack()
            return nil
        }
        self.port = port
        self.remote = remote
        self.time = time
        self.received = received
        self.isRefused = isRefused
    }

    deinit { port.givePlaceBack() }

    /// Returns the socket, once.
    func takeSocket() -> Socket? { socket.withLock { $0.take() } }

    func pass(to driver: some ListeningDriver) {
        Task.following(on: driver.loop.taskExecutor) { await driver.take(self) }
    }
}
