import MultipeerCore

/// Whether any of a peer's addresses accepts a connection now. The connection is closed at once: nothing is sent, and no user is asked.
///
/// An actor pinned to a loop, for one call.
package actor ReachabilityProbe: LoopClient {
    nonisolated package let loop: EventLoop
    nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated package let wakeup = Wakeup()

    private var sockets: [Int: ProbeSocket] = [:]
    private let outcome = Promise<Bool>()

    private final class ProbeSocket {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private init(_ loop: EventLoop) { self.loop = loop }

    /// Dials the first eight at once, and returns whether one accepted in time; false when the task is cancelled, and when files
    /// and connections need the descriptors that are left.
    package static func reaches(
        _ addresses: [SocketAddress], within limit: Duration, on host: VirtualHost?
    ) async throws(SocketFault) -> Bool {
        if addresses.isEmpty { return false }
        guard
            host != nil
                || Descriptors.isFree(leaving: Descriptors.reserved + FileTurns.leftForOthers + mostAddresses)
        else { return false }
        let probe = ReachabilityProbe(try EventLoop.next(on: host))
        return await probe.reach(addresses, until: EventLoop.currentMoment() + limit)
    }

    private func reach(_ addresses: [SocketAddress], until end: Moment) async -> Bool {
        for (token, address) in addresses.prefix(ReachabilityProbe.mostAddresses).enumerated() {
            dial(address, token)
        }
        if sockets.isEmpty { return false }
        loop.setDeadline(self, end)
        let isReached = await outcome.value(onCancel: { [outcome] in outcome.send(false) })
        for token in sockets.keys.sorted() { close(token) }
        loop.setDeadline(self, nil)
        return isReached
    }

    private static let mostAddresses = 8

    /// An address to which this machine has no way now is one that is not reached.
    private func dial(_ address: SocketAddress, _ token: Int) {
        do throws(SocketFault) {
            let one = ProbeSocket(try loop.connect(to: address))
            try loop.register(one.socket.descriptor, for: self, token: token, interest: .writable)
            sockets[token] = one
        } catch {
            return
        }
    }

    private func close(_ token: Int) {
        guard let one = sockets.removeValue(forKey: token) else { return }
        loop.deregister(one.socket.descriptor)
    }

    private func connected(_ token: Int) {
        guard let one = sockets[token] else { return }
        let isReached = one.socket.connectionResult() == nil
        close(token)
        if isReached { outcome.send(true) } else if sockets.isEmpty { outcome.send(false) }
    }

    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.connected(token) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { _ = $0.outcome.send(false) } }
    nonisolated package func wokenUp() {}
    nonisolated package func turnEnded() {}
}
