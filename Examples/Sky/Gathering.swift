import Multipeer

/// Invites all visible peers into a session.
///
/// A peer that was invited too early, or by too many at once, is invited again, and so is a peer whose link has ended: if
/// it only stalled, or was cut off for a while, it is still present, and no browser will report it as found again.
struct Gathering: Sendable {
    private enum Event: Sendable {
        case seen(PeerID)
        case unlinked(PeerID)
        /// The peer was invited a while ago; with an error when it did not link.
        case asked(PeerID, MultipeerError?)
    }

    let session: Session
    let service: String
    let discovery: DiscoveryConfiguration
    /// Takes a sentence about a peer that does not link.
    let complain: @Sendable (String) -> Void

    /// Runs until the task is cancelled.
    func run() async throws {
        let browser = try Browser(peer: session.peer, service: service, configuration: discovery)
        try await browser.start()
        let (events, telling) = AsyncStream<Event>.makeStream()
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await case .found(let found) in browser.events { telling.yield(.seen(found.peer)) }
            }
            group.addTask {
                for await case .peer(let peer, .notConnected) in session.events {
                    telling.yield(.unlinked(peer))
                }
            }
            var guests = Guests()
            for await event in events {
                if case .asked(let peer, let error) = event, let words = guests.note(peer, error) {
                    complain(words)
                }
                guard let peer = await missing(event, through: browser), guests.mayAsk(peer) else { continue }
                let pause = guests.pause(for: peer)
                group.addTask {
                    let error = await ask(peer, through: browser)
                    guard (try? await Task.sleep(for: pause)) != nil else { return }
                    telling.yield(.asked(peer, error))
                }
            }
        }
        await browser.stop()
    }

    /// Returns the visible peer of an event that is not linked.
    private func missing(_ event: Event, through browser: Browser) async -> PeerID? {
        switch event {
        case .seen(let peer): return peer
        case .unlinked(let peer): return await browser.sees(peer) ? peer : nil
        case .asked(let peer, _):
            // Its link may have ended since.
            if await session.connectedPeers.contains(peer) { return nil }
            return await browser.sees(peer) ? peer : nil
        }
    }

    /// Invites a peer, and returns the error when it does not link.
    private func ask(_ peer: PeerID, through browser: Browser) async -> MultipeerError? {
        do throws(MultipeerError) {
            try await browser.invite(peer, to: session, timeout: .seconds(20))
            return nil
        } catch {
            return error
        }
    }
}

/// The peers that are being invited, and the results.
struct Guests {
    private var asked: Set<PeerID> = []
    private var failures: [PeerID: Int] = [:]
    private var known: Set<PeerID> = []

    /// Notes the result of an invitation, and returns a sentence about it, if any.
    mutating func note(_ peer: PeerID, _ error: MultipeerError?) -> String? {
        // A peer that declines stays among those that were asked.
        let isRefusal = [.declined, .incompatible].contains(error?.code)
        if !isRefusal { asked.remove(peer) }
        guard let error else {
            failures[peer] = nil
            known.insert(peer)
            return nil
        }
        failures[peer, default: 0] += 1
        // The loss of a linked peer was already reported.
        guard isRefusal || failures[peer] == 3, !known.contains(peer) else { return nil }
        return "cannot link with \(peer.name): \(error)"
    }

    /// Returns whether a peer may be invited now: none is invited twice at once.
    mutating func mayAsk(_ peer: PeerID) -> Bool { asked.insert(peer).inserted }

    /// Returns how long to wait after an invitation before the next one, also for a peer that links and leaves at once.
    func pause(for peer: PeerID) -> Duration { .seconds(min(10, 1 + failures[peer, default: 0])) }
}

extension Browser {
    fileprivate func sees(_ peer: PeerID) -> Bool { peers.contains { $0.peer == peer } }
}
