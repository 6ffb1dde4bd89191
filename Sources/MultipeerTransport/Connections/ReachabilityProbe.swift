import MultipeerCore

/// Whether any of a peer's addresses accepts a connection now. The connection is closed at once: nothing is sent, and no user is asked.
///
/// An actor pinned to a loop, for one call.
package actor ReachabilityProbe: LoopClient {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let wakeup = Wakeup()

    package enum Outcome: Sendable {
        /// One address accepted.
        case reached
        /// None accepted in time, and one refused: its machine is there, and no process listens at it.
        case refused
        case silent
    }

    private var sockets: [Int: ProbeSocket] = [:]
    private var isRefused = false
    /// Nil when the time is over.
    private let ending = Promise<Outcome?>()

    private final class ProbeSocket {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private init(_ loop: EventLoop) { self.loop = loop }

    /// Dials the first eight at once, and returns whether one accepted in time, or what they did instead; `silent` when the task is
    /// cancelled, and when files and connections need the descriptors that are left.
    package static func outcome(
        at addresses: [SocketAddress], within limit: Duration, on host: VirtualHost?
    ) async throws(SocketFault) -> Outcome {
        if addresses.isEmpty { return .silent }
        guard
            host != nil
                || Descriptors.isFree(leaving: Descriptors.reserved + FileTurns.leftForOthers + mostAddresses)
        else { return .silent }
        let probe = ReachabilityProbe(try EventLoop.next(on: host))
        return await probe.reach(addresses, until: EventLoop.currentMoment() + limit)
    }

    /// Returns whether one of them accepted in time.
    package static func reaches(
        _ addresses: [SocketAddress], within limit: Duration, on host: VirtualHost?
    ) async throws(SocketFault) -> Bool {
        if case .reached = try await outcome(at: addresses, within: limit, on: host) { true } else { false }
    }

    private func reach(_ addresses: [SocketAddress], until end: Moment) async -> Outcome {
        for (token, address) in addresses.prefix(ReachabilityProbe.mostAddresses).enumerated() {
            dial(address, token)
        }
        if sockets.isEmpty { return isRefused ? .refused : .silent }
        loop.setDeadline(self, end)
        let result = await ending.value(onCancel: { [ending] in ending.send(.silent) })
        for token in sockets.keys.sorted() { close(token) }
        loop.setDeadline(self, nil)
        return result ?? (isRefused ? .refused : .silent)
    }

    private static let mostAddresses = 8

    /// An address to which this machine has no way now is one that is not reached.
    private func dial(_ address: SocketAddress, _ token: Int) {
        do throws(SocketFault) {
            let one = ProbeSocket(try loop.connect(to: address))
            try loop.register(one.socket.descriptor, for: self, token: token, interest: .writable)
            sockets[token] = one
        } catch {
            note(error)
        }
    }

    private func close(_ token: Int) {
        guard let one = sockets.removeValue(forKey: token) else { return }
        loop.deregister(one.socket.descriptor)
    }

    private func connected(_ token: Int) {
        guard let one = sockets[token] else { return }
        let fault = one.socket.connectionResult()
        close(token)
        if let fault { note(fault) } else { ending.send(.reached) }
        if sockets.isEmpty { ending.send(nil) }
    }

    private func note(_ fault: SocketFault) { isRefused = isRefused || fault == .refused }

    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.connected(token) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { _ = $0.ending.send(nil) } }
    nonisolated package func wokenUp() {}
    nonisolated package func turnEnded() {}
}
