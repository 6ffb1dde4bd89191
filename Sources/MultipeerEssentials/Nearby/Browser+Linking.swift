public import MultipeerCore
public import MultipeerDiscovery
public import MultipeerTransport

extension Browser {
    /// Starts the browser, and keeps a session linked with every peer that it finds and the application wants, until the task is
    /// cancelled or the browser is stopped.
    ///
    /// ```swift
    /// try await browser.run(linking: session) { found in found.info["room"] == "kitchen" }
    /// ```
    ///
    /// A peer is invited when it is found, and again when an invitation does not reach it or times out, after a second or two, or
    /// when one of the sessions has no room, or no descriptor is free, after ten. When a link is lost, by an outage of the network or a
    /// crash, the peer is linked again as soon as it can be reached, usually within three seconds: invited, or by a mesh by itself. A
    /// link that one side ends is not made again, nor is a peer that declines invited again, before it is found anew or its info changes;
    /// only one that was linked is, once, after ten seconds: it may not have noticed yet that the link is dead.
    ///
    /// Both sides may do this: two peers that invite each other at once get one link. Where users are asked, let one side invite,
    /// such as that with the lower id: `{ me.uid < $0.peer.uid }`. A peer that already is linked, as one that the mesh has introduced,
    /// is not invited.
    ///
    /// - Parameters:
    ///   - session: The session into which peers are invited, of the same peer.
    ///   - context: What the other side's application gets with the invitation, as for `invite`.
    ///   - timeout: How long one invitation may take, 1 to 600 seconds.
    ///   - wants: Returns whether to be linked with a peer; called when it is found, when its info has changed, and before each
    ///     invitation. By default every peer is wanted.
    ///   - onFailure: Receives what `invite` threw: unless it is of the same kind as the last that was reported of
    ///     the peer since it was linked or lost.
    /// - Throws: `invalidArgument` when the session is of another peer, or for a context or timeout out of range, and what `start`
    ///   throws.
    public nonisolated func run(
        linking session: Session, context: [UInt8]? = nil, timeout: Duration = .seconds(30),
        where wants: @escaping @Sendable (DiscoveredPeer) async -> Bool = { _ in true },
        onFailure: @escaping @Sendable (PeerID, MultipeerError) async -> Void = { _, _ in }
    ) async throws(MultipeerError) {
        guard session.peer == peer else {
            throw MultipeerError(.invalidArgument, "\(peer) invites, and the session is of \(session.peer)")
        }
        try OutgoingInvitation.check(context, timeout)
        let keeper = LinkKeeper(
            browser: self, session: session, context: context, timeout: timeout, wants: wants,
            onFailure: onFailure)
        let iteration = events
        try await start()
        await withDiscardingTaskGroup { group in
            for await event in iteration {
                switch event {
                case .found(let found), .updated(let found):
                    guard keeper.begin(found) else { continue }
                    group.addTask { await keeper.link(found.peer) }
                case .lost(let peer): keeper.lose(peer)
                }
            }
            group.cancelAll()
        }
        await stop()
    }
}

/// Invites the peers that a browser finds, one task for each, until it is linked or need not be invited again.
private final class LinkKeeper: Sendable {
    /// What is known of a peer that is being invited.
    private struct Entry {
        var found: DiscoveredPeer
        /// Whether it was found again since its task began.
        var isRenewed = false
        /// Whether it is gone: it is invited again when it is found again.
        var isLost = false
    }

    private struct State {
        var entries: [PeerID: Entry] = [:]
        /// The peers that were linked: a mesh links them again by itself, if it can.
        var linked: Set<PeerID> = []
        /// The errors that were reported.
        var reported: [PeerID: MultipeerError.Code] = [:]
    }

    let browser: Browser
    let session: Session
    let context: [UInt8]?
    let timeout: Duration
    let wants: @Sendable (DiscoveredPeer) async -> Bool
    let onFailure: @Sendable (PeerID, MultipeerError) async -> Void
    private let state = Locked(State())

    /// The pause before a peer is invited again: at first, then each time, and where there was no room.
    private static let pauses = (
        first: Duration.seconds(1), next: Duration.seconds(2), full: Duration.seconds(10)
    )
    /// The first where a mesh links the peer by itself: longer than the other end takes to find out that its link is dead.
    /// [stale.probe]
    private static let meshPause = Duration.seconds(2)
    private static let mostRemembered = 256
    /// Of the invitations at a time: however many peers are announced, they use no more connections.
    private let permits = AsyncSemaphore<Never>(16)

    init(
        browser: Browser, session: Session, context: [UInt8]?, timeout: Duration,
        wants: @escaping @Sendable (DiscoveredPeer) async -> Bool,
        onFailure: @escaping @Sendable (PeerID, MultipeerError) async -> Void
    ) {
        (self.browser, self.session, self.context, self.timeout) = (browser, session, context, timeout)
        (self.wants, self.onFailure) = (wants, onFailure)
    }

    /// Returns whether the peer needs a task: it has none.
    func begin(_ found: DiscoveredPeer) -> Bool {
        state.withLock { state in
            let isNew = state.entries[found.peer] == nil
            state.entries[found.peer] = Entry(found: found, isRenewed: !isNew)
            return isNew
        }
    }

    /// The next error is reported again.
    func lose(_ peer: PeerID) {
        state.withLock { state in
            state.reported[peer] = nil
            state.entries[peer]?.isLost = true
        }
    }

    func link(_ peer: PeerID) async {
        let wasLinked = state.withLock { $0.linked.contains(peer) }
        var pause = wasLinked ? pauseAfterLink : .zero
        // The other end may not have noticed yet that the link is dead, and decline for that.
        var mayDecline = wasLinked
        while true {
            do { try await Pause.sleep(for: pause) } catch { break }
            guard
                let found = state.withLock({ state -> DiscoveredPeer? in
                    if state.entries[peer]?.isLost == true { state.entries[peer] = nil }
                    state.entries[peer]?.isRenewed = false
                    return state.entries[peer]?.found
                })
            else { return }
            switch await invite(found) {
            case .later(let duration): pause = duration
            case .declined where mayDecline:
                mayDecline = false
                pause = LinkKeeper.pauses.full
            case .done where end(peer), .declined where end(peer): return
            case .done, .declined: pause = .zero
            }
        }
        state.withLock { $0.entries[peer] = nil }
    }

    private var pauseAfterLink: Duration {
        session.driver.configuration.topology == .mesh ? LinkKeeper.meshPause : LinkKeeper.pauses.first
    }

    /// Ends the task of a peer, unless it was found again meanwhile.
    private func end(_ peer: PeerID) -> Bool {
        state.withLock { state in
            guard state.entries[peer]?.isRenewed != true else { return false }
            state.entries[peer] = nil
            return true
        }
    }

    private enum Step {
        case done
        case declined
        case later(Duration)
    }

    private func invite(_ found: DiscoveredPeer) async -> Step {
        let peer = found.peer
        do { try await permits.acquire() } catch { return .done }
        defer { permits.release() }
        if await isLinked(peer) { return .done }
        guard await wants(found) else { return .done }
        do throws(MultipeerError) {
            try await browser.invite(peer, to: session, context: context, timeout: timeout)
            _ = await isLinked(peer)
            return .done
        } catch {
            if Task.isCancelled { return .done }
            if await isLinked(peer) { return .done }
            if shouldReport(error, of: peer) { await onFailure(peer, error) }
            return LinkKeeper.step(after: error)
        }
    }

    private func isLinked(_ peer: PeerID) async -> Bool {
        guard await session.connectedPeers.contains(peer) else { return false }
        state.withLock { state in
            state.reported[peer] = nil
            if state.linked.count >= LinkKeeper.mostRemembered { state.linked = [] }
            state.linked.insert(peer)
        }
        return true
    }

    private func shouldReport(_ error: MultipeerError, of peer: PeerID) -> Bool {
        state.withLock { state in
            if state.reported.count >= LinkKeeper.mostRemembered { state.reported = [:] }
            return state.reported.updateValue(error.code, forKey: peer) != error.code
        }
    }

    private static func step(after error: MultipeerError) -> Step {
        switch error.code {
        case .timedOut, .unreachable: .later(pauses.next)
        case .busy, .full, .tooManyFiles: .later(pauses.full)
        case .declined: .declined
        case .ended:
            switch error.reason?.code {
            case .timedOut, .lost, .superseded: .later(pauses.next)
            case .busy, .full: .later(pauses.full)
            default: .done
            }
        default: .done
        }
    }
}
