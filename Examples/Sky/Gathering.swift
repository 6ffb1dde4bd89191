import Multipeer

/// Brings all into a session who are to be seen.
///
/// Somebody who was asked too early, or by too many at once, is asked again, and so is whoever was linked and is not any
/// more: one that was only held up, or cut off for a while, is still there, and no browser will say again that it was
/// found.
struct Gathering: Sendable {
    private enum Event: Sendable {
        case seen(PeerID)
        case unlinked(PeerID)
        /// It was asked a while ago; with an error when it did not come.
        case asked(PeerID, MultipeerError?)
    }

    let session: Session
    let service: String
    let discovery: DiscoveryConfiguration
    /// Takes a sentence about somebody who does not come.
    let complain: @Sendable (String) -> Void

    /// Until the task is cancelled.
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

    /// Who is to be seen, and not here.
    private func missing(_ event: Event, through browser: Browser) async -> PeerID? {
        switch event {
        case .seen(let peer): return peer
        case .unlinked(let peer): return await browser.sees(peer) ? peer : nil
        case .asked(let peer, _):
            // Its link may have ended since.
            if await session.peers.contains(peer) { return nil }
            return await browser.sees(peer) ? peer : nil
        }
    }

    /// Answers why it does not come.
    private func ask(_ peer: PeerID, through browser: Browser) async -> MultipeerError? {
        do throws(MultipeerError) {
            try await browser.invite(peer, to: session, timeout: .seconds(20))
            return nil
        } catch {
            return error
        }
    }
}

/// Who is being asked, and how that went.
struct Guests {
    private var asked: Set<PeerID> = []
    private var failures: [PeerID: Int] = [:]
    private var known: Set<PeerID> = []

    /// Takes how it went, and answers what is to be said about that.
    mutating func note(_ peer: PeerID, _ error: MultipeerError?) -> String? {
        // Who does not want to come stays among those who are asked.
        let isRefusal = [.declined, .incompatible].contains(error?.code)
        if !isRefusal { asked.remove(peer) }
        guard let error else {
            failures[peer] = nil
            known.insert(peer)
            return nil
        }
        failures[peer, default: 0] += 1
        // That somebody was here and is lost is known.
        guard isRefusal || failures[peer] == 3, !known.contains(peer) else { return nil }
        return "\(peer.name) does not come: \(error)"
    }

    /// Nobody is asked twice at once.
    mutating func mayAsk(_ peer: PeerID) -> Bool { asked.insert(peer).inserted }

    /// How long to wait when it was asked, before it is asked again: also one that comes and goes at once.
    func pause(for peer: PeerID) -> Duration { .seconds(min(10, 1 + failures[peer, default: 0])) }
}

extension Browser {
    fileprivate func sees(_ peer: PeerID) -> Bool { peers.contains { $0.peer == peer } }
}
