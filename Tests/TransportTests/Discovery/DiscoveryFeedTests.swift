import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Events of a browse", .inTurns)
struct DiscoveryFeedTests {
    private func peer(_ name: String, _ text: String = "", of id: PeerID? = nil) throws -> DiscoveredPeer {
        let id = try PeerID(validating: id?.uid ?? UID.random(), displayName: name)
        return DiscoveredPeer(peer: id, info: ["text": text])
    }

    @Test("events arrive in order at a reader that keeps up")
    func order() async throws {
        let feed = DiscoveryFeed()
        let events = DiscoveryEvents(feed) {}
        var iterator = events.makeAsyncIterator()
        let ann = try peer("ann")
        let other = try peer("ann", "other", of: ann.peer)
        for event in [DiscoveredPeer.Event.found(ann), .updated(other), .lost(ann.peer), .found(ann)] {
            feed.hear(event)
            #expect(await iterator.next() == event)
        }
    }

    @Test("a slow reader receives the current state, once")
    func coalescing() async throws {
        let feed = DiscoveryFeed()
        var iterator = DiscoveryEvents(feed) {}.makeAsyncIterator()
        let (ann, bob, carl) = (try peer("ann"), try peer("bob"), try peer("carl"))
        for event in [DiscoveredPeer.Event.found(ann), .found(bob), .lost(ann.peer), .found(carl)] {
            feed.hear(event)
        }
        #expect(await iterator.next() == .found(bob))
        #expect(await iterator.next() == .found(carl))
        // Away and back is nothing new; changed twice is changed once, and changed back not at all.
        let changed = try peer("bob", "new", of: bob.peer)
        for event in [DiscoveredPeer.Event.lost(carl.peer), .found(carl), .updated(changed)] {
            feed.hear(event)
        }
        feed.hear(.lost(bob.peer))
        feed.hear(.found(changed))
        #expect(await iterator.next() == .updated(changed))
        for event in [DiscoveredPeer.Event.updated(bob), .updated(changed), .lost(carl.peer)] {
            feed.hear(event)
        }
        #expect(await iterator.next() == .lost(carl.peer))
    }

    @Test("a peer that started anew is lost and found, also by a slow reader, and only once [mdns.restart]")
    func restarting() async throws {
        let feed = DiscoveryFeed()
        var iterator = DiscoveryEvents(feed) {}.makeAsyncIterator()
        let (ann, bob) = (try peer("ann"), try peer("bob"))
        feed.hear(.found(ann), from: "mpc-1.local")
        #expect(await iterator.next() == .found(ann))
        for host in ["mpc-2.local", "mpc-3.local"] as [DNSName] { feed.hear(.found(ann), from: host) }
        feed.hear(.found(bob), from: "mpc-4.local")
        #expect(await iterator.next() == .lost(ann.peer))
        #expect(await iterator.next() == .found(ann))
        #expect(await iterator.next() == .found(bob))
        // Whether it was lost in between, or gone again before it was reported as found.
        feed.hear(.lost(ann.peer))
        feed.hear(.found(ann), from: "mpc-5.local")
        feed.hear(.found(bob), from: "mpc-6.local")
        #expect(await iterator.next() == .lost(ann.peer))
        feed.hear(.lost(ann.peer))
        #expect(await iterator.next() == .lost(bob.peer))
        #expect(await iterator.next() == .found(bob))
    }

    @Test(
        "a missed peer that answers is lost and found, once; one that was lost, or is linked, is not [mdns.missed]"
    )
    func missing() async throws {
        let feed = DiscoveryFeed()
        var iterator = DiscoveryEvents(feed) {}.makeAsyncIterator()
        let (ann, bob, carl) = (try peer("ann"), try peer("bob"), try peer("carl"))
        for one in [ann, bob, carl] { feed.hear(.found(one)) }
        for one in [ann, bob, carl] { #expect(await iterator.next() == .found(one)) }
        feed.cameBack(ann.peer.uid)  // it was not missed
        for one in [ann, bob, carl] { #expect(feed.miss(one.peer.uid) == one.peer) }
        feed.linked(bob.peer.uid)
        for one in [ann, bob] { for _ in 0..<2 { feed.cameBack(one.peer.uid) } }
        feed.hear(.lost(carl.peer))
        #expect(feed.isMissed(carl.peer.uid))
        #expect(await iterator.next() == .lost(ann.peer))
        #expect(await iterator.next() == .found(ann))
        #expect(await iterator.next() == .lost(carl.peer))
        // What is repeated of it changes nothing, nor that it answers when it was found again.
        feed.hear(.found(ann))
        feed.hear(.found(carl))
        feed.cameBack(carl.peer.uid)
        #expect(await iterator.next() == .found(carl))
        #expect([ann, bob, carl].allSatisfy { !feed.isMissed($0.peer.uid) })
        feed.hear(.lost(bob.peer))
        #expect(await iterator.next() == .lost(bob.peer))
        #expect(feed.miss(try peer("dan").peer.uid) == nil, "it was never found")
    }

    @Test("peers that come and go use no memory and do not wake the reader")
    func bounded() async throws {
        let feed = DiscoveryFeed()
        var iterator = DiscoveryEvents(feed) {}.makeAsyncIterator()
        for _ in 0..<1_000 {
            let passing = try peer("passing")
            feed.hear(.found(passing))
            feed.hear(.lost(passing.peer))
        }
        let last = try peer("last")
        feed.hear(.found(last))
        #expect(await iterator.next() == .found(last))
    }

    @Test("a browse stops once, by stop or by its release")
    func ending() async throws {
        let ends = Notes<String>()
        let feed = DiscoveryFeed()
        do {
            let events = DiscoveryEvents(feed) { ends.append("stopped") }
            feed.hear(.found(try peer("ann")))
            events.stop()
            events.stop()
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == nil)
        }
        #expect(ends.all == ["stopped"])
        do {
            let feed = DiscoveryFeed()
            var iterator = DiscoveryEvents(feed) { ends.append("let go") }.makeAsyncIterator()
            let ann = try peer("ann")
            feed.hear(.found(ann))
            #expect(await iterator.next() == .found(ann))
            #expect(ends.all.count == 1)
        }
        #expect(ends.all == ["stopped", "let go"])
    }

    @Test("each reader begins with all known peers, in the order of their arrival, and receives all changes")
    func several() async throws {
        let feed = DiscoveryFeed()
        let events = DiscoveryEvents(feed) {}
        let (ann, bob, carl) = (try peer("ann"), try peer("bob"), try peer("carl"))
        for event in [DiscoveredPeer.Event.found(bob), .found(ann)] { feed.hear(event) }
        var (first, second) = (events.makeAsyncIterator(), events.makeAsyncIterator())
        #expect(await first.next() == .found(bob))
        #expect(await first.next() == .found(ann))
        feed.hear(.lost(bob.peer))
        feed.hear(.found(carl))
        #expect(await second.next() == .found(ann))
        #expect(await second.next() == .found(carl))
        #expect(await first.next() == .lost(bob.peer))
        #expect(await first.next() == .found(carl))
        feed.hear(.lost(ann.peer))
        #expect(await first.next() == .lost(ann.peer))
        #expect(await second.next() == .lost(ann.peer))
    }

    @Test("a single new reader continues where the last one stopped")
    func breakingOff() async throws {
        let feed = DiscoveryFeed()
        let events = DiscoveryEvents(feed) {}
        let (ann, bob) = (try peer("ann"), try peer("bob"))
        for event in [DiscoveredPeer.Event.found(ann), .found(bob)] { feed.hear(event) }
        for await event in events where event == .found(ann) { break }
        feed.hear(.lost(ann.peer))
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == .found(bob))
        #expect(await iterator.next() == .lost(ann.peer))
    }

    @Test("readers end after every peer was reported lost, and later ones end at once")
    func endingReaders() async throws {
        let feed = DiscoveryFeed()
        let events = DiscoveryEvents(feed) {}
        let (ann, bob) = (try peer("ann"), try peer("bob"))
        feed.hear(.found(ann))
        var (reading, fresh) = (events.makeAsyncIterator(), events.makeAsyncIterator())
        #expect(await reading.next() == .found(ann))
        feed.hear(.found(bob))
        #expect(feed.peers == [ann, bob] && feed.peer(bob.peer.uid) == bob.peer)
        events.stop()
        feed.hear(.found(bob))
        var later = events.makeAsyncIterator()
        #expect(await reading.next() == .lost(ann.peer))
        #expect(await reading.next() == nil)
        #expect(await fresh.next() == nil)
        #expect(await later.next() == nil)
        #expect(feed.peers.isEmpty && feed.isFinished)
    }

    @Test("a hidden peer is never reported [mdns.self]")
    func hiding() async throws {
        let feed = DiscoveryFeed()
        var iterator = DiscoveryEvents(feed) {}.makeAsyncIterator()
        let (ann, bob) = (try peer("ann"), try peer("bob"))
        feed.hear(.found(ann))
        feed.hide(ann.peer.uid)
        for event in [DiscoveredPeer.Event.found(ann), .found(bob)] { feed.hear(event) }
        #expect(await iterator.next() == .found(bob))
        #expect(feed.peers == [bob])
    }

    @Test("a cancelled wait ends, and the next one continues")
    func cancelling() async throws {
        let feed = DiscoveryFeed()
        let events = DiscoveryEvents(feed) {}
        let waiting = Task {
            var iterator = events.makeAsyncIterator()
            return await iterator.next()
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
        let ann = try peer("ann")
        feed.hear(.found(ann))
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == .found(ann))
    }
}

extension DiscoveryFeed {
    fileprivate func hear(_ event: DiscoveredPeer.Event, from host: DNSName? = nil) {
        switch event {
        case .found(let peer), .updated(let peer): note(peer.peer.uid, PresentPeer(peer, host: host))
        case .lost(let peer): note(peer.uid, nil)
        }
    }
}
