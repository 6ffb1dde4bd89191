public import MultipeerCore
public import MultipeerDiscovery
public import MultipeerTransport

extension Browser {
    /// Other peers with the same number have answered this long after the browser's start: a response to a query is delayed by 120
    /// ms at most. A slower one goes unnoticed, and then a wrong peer may be tried.
    private static let numberConflictDelay = Duration.milliseconds(150)

    /// Waits for the peer that advertises the number of a code, which `invite` then has to prove.
    ///
    /// The number is not secret, and anyone can advertise it. If several peers do, none is returned: an invitation
    /// could only guess which one is meant, and a wrong guess ends the code. Cancel the task to limit the time.
    ///
    /// Throws `ambiguousCode` when several peers advertise the number, `notFound` when the browser is not running or was stopped, and
    /// `cancelled`.
    public func peer(for code: InvitationCode) async throws(MultipeerError) -> DiscoveredPeer {
        guard let startTime, let reader = separateReader() else {
            throw MultipeerError(.notFound, "the browser is not running")
        }
        while let event = await reader.next() {
            guard case .found(let peer) = event.news, peer.codeNumber == code.number else { continue }
            let wait = startTime + Browser.numberConflictDelay - EventLoop.currentMoment()
            if wait > .zero { try? await Pause.sleep(for: wait) }
            let candidates = peers.filter { $0.codeNumber == code.number }
            guard candidates.count <= 1 else {
                throw MultipeerError(
                    .ambiguousCode,
                    "\(candidates.count) peers announce code number \(code.number): make a new code and try again"
                )
            }
            if let only = candidates.first { return only }
        }
        throw Task.isCancelled
            ? MultipeerError(.cancelled, "the search for code number \(code.number) was cancelled")
            : MultipeerError(.notFound, "the browser was stopped")
    }
}

extension DiscoveredPeer.Event {
    /// The event, where a change counts as finding the peer again.
    fileprivate var news: DiscoveredPeer.Event {
        if case .updated(let peer) = self { .found(peer) } else { self }
    }
}
