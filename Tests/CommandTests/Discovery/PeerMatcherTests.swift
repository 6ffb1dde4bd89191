import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: the peer that a name means", .computing)
struct PeerMatcherTests {
    private func peer(_ name: String, _ digits: UInt64) throws -> PeerID {
        try PeerID(uid: UID(high: digits << 48, low: 0), displayName: name)
    }

    private func receiver(_ name: String, _ digits: UInt64) throws -> DiscoveredPeer.Event {
        .found(DiscoveredPeer(peer: try peer(name, digits), info: PeerRole.receive.info))
    }

    @Test("a name, a name with digits, and digits alone are understood")
    func addressees() throws {
        let (one, other) = (try peer("ann", 0x1f2e), try peer("ann", 0x1f3e))
        let both = [one, other]
        for (text, meant) in [
            ("ann", both), ("ann#1F2e", [one]), ("#1f3e", [other]), ("bob#1f3e", []),
        ] {
            #expect(PeerSelector(text)?.matches(both) == meant, "\(text)")
        }
        #expect(PeerSelector("#" + one.id)?.isExact == true)
        for text in ["", "#", "ann#", "ann#123", "ann#xyzw", "#" + one.id + "0"] {
            #expect(PeerSelector(text) == nil, "\(text)")
        }
    }

    @Test("a name matches without its case, and its beginning, unless another name matches better")
    func inexact() throws {
        let peers = [try peer("Ann", 1), try peer("Annette", 2), try peer("bob", 3)]
        for (text, meant) in [("ann", "Ann"), ("ANN", "Ann"), ("anne", "Annette"), ("BO", "bob")] {
            #expect(PeerSelector(text)?.matches(peers).map(\.displayName) == [meant], "\(text)")
        }
        #expect(PeerSelector("an")?.matches(peers).count == 2)
        #expect(PeerSelector("nn")?.matches(peers) == [])
        // A script would send to a peer that it did not mean.
        #expect(PeerSelector("anne")?.matches(peers, isWhole: true) == [])
        #expect(PeerSelector("ann")?.matches(peers, isWhole: true) == [peers[0]])
    }

    @Test(
        "24 digits or more of a keyed id prove the peer, and every other match says that it is not verified [uid.proof]"
    )
    func proof() throws {
        let keyed = try PeerID(displayName: "ann", identity: .generate())
        let random = try PeerID(displayName: "ann")
        for (count, isProven) in [(4, false), (23, false), (24, true), (32, true)] {
            let selector = try #require(PeerSelector("ann#\(keyed.id.prefix(count))"))
            #expect(selector.matches([keyed]) == [keyed] && selector.proves(keyed) == isProven)
            let remark = try #require(selector.remark(on: keyed))
            #expect(
                remark.contains(isProven ? "ann is verified by its id" : "ann is not verified"), "\(remark)")
        }
        let whole = try #require(PeerSelector("#\(random.id)"))
        #expect(whole.matches([random]) == [random] && !whole.proves(random))
        #expect(whole.remark(on: random)?.contains("ann is not verified: its id is random") == true)
        #expect(try #require(PeerSelector("ann")).remark(on: keyed) == nil)
    }

    @Test("a single peer with a name is found after a moment, in which another could appear")
    func one() throws {
        var matcher = PeerMatcher(for: try #require(PeerSelector("ann")), as: .send(nil))
        #expect(matcher.verdict(at: .seconds(9)) == .open && matcher.deadline == nil)
        matcher.note(try receiver("bob", 1), at: .seconds(1))
        #expect(matcher.deadline == nil)
        matcher.note(try receiver("ann", 2), at: .seconds(2))
        #expect(matcher.verdict(at: .seconds(2)) == .open)
        let deadline = try #require(matcher.deadline)
        #expect(deadline > .seconds(2))
        #expect(matcher.verdict(at: deadline) == .found(try peer("ann", 2)))
        matcher.note(.lost(try peer("ann", 2)), at: .seconds(3))
        #expect(matcher.verdict(at: .seconds(9)) == .open)
    }

    @Test("the only peer with nearly that name is suggested while none has it")
    func near() throws {
        var matcher = PeerMatcher(for: try #require(PeerSelector("bobpc")), as: .send(nil), isWhole: true)
        #expect(matcher.near == nil)
        matcher.note(try receiver("carl", 1), at: .seconds(1))
        #expect(matcher.near == nil)
        matcher.note(try receiver("bob-pc", 2), at: .seconds(1))
        #expect(try matcher.near == peer("bob-pc", 2))
        var two = matcher
        two.note(try receiver("bob-pc", 3), at: .seconds(1))
        #expect(two.near == nil)
        matcher.note(try receiver("bobpc", 4), at: .seconds(2))
        #expect(matcher.near == nil)
    }

    @Test("another peer with the name that answers after the decision is reported, unless it cannot be meant")
    func late() throws {
        let (one, other) = (try peer("ann", 2), try peer("ann", 3))
        for (text, rest) in [("ann", [other]), ("#\(one.id)", [])] {
            var matcher = PeerMatcher(for: try #require(PeerSelector(text)), as: .send(nil), within: .machine)
            matcher.note(try receiver("ann", 2), at: .zero)
            #expect(matcher.verdict(at: .seconds(1)) == .found(one) && matcher.others(than: one) == [])
            matcher.note(try receiver("ann", 3), at: .seconds(2))
            #expect(matcher.others(than: one) == rest)
        }
    }

    @Test("a search for any purpose finds every peer with the name, and so says when several have it")
    func anyPurpose() throws {
        var matcher = PeerMatcher(for: try #require(PeerSelector("ann")), as: nil)
        matcher.note(.found(DiscoveredPeer(peer: try peer("ann", 1), info: [:])), at: .zero)
        #expect(matcher.verdict(at: .seconds(1)) == .found(try peer("ann", 1)))
        matcher.note(try receiver("ann", 2), at: .zero)
        #expect(matcher.verdict(at: .seconds(1)) == .several([try peer("ann", 1), try peer("ann", 2)]))
    }

    @Test("a name waits for all answers on a network, and on one machine only as long as others may take")
    func window() throws {
        for (reach, first, deadline) in [
            // Both queries are answered within 240 ms, and what appears later within 100 ms.
            (PeerMatcher.Reach.network, Duration.milliseconds(30), Duration.milliseconds(300)),
            (.network, .milliseconds(240), .milliseconds(390)), (.network, .seconds(5), .milliseconds(5_150)),
            (.machine, .zero, .milliseconds(10)), (.machine, .milliseconds(2), .milliseconds(18)),
            (.machine, .seconds(5), .milliseconds(5_150)),
        ] {
            var matcher = PeerMatcher(
                for: try #require(PeerSelector("ann")), as: .send(nil), within: reach)
            matcher.note(try receiver("ann", 2), at: first)
            #expect(matcher.deadline == deadline)
            #expect(matcher.verdict(at: deadline - .milliseconds(1)) == .open)
            matcher.note(try receiver("ann", 3), at: deadline - .milliseconds(1))
            #expect(matcher.verdict(at: deadline) == .several([try peer("ann", 2), try peer("ann", 3)]))
        }
    }

    @Test(
        "a peer that was verified under the name is meant at once, and only if it is the only one and its id is a key's"
    )
    func known() throws {
        let name = "ann"
        let (ann, other) = (try Identity.generate(), try Identity.generate())
        func entry(_ identity: Identity, _ name: String, _ means: PeerVerification.Means?) -> TrustStore.Entry
        {
            .init(
                peer: identity.uid, fingerprint: identity.fingerprint, name: name, at: 1, verifiedBy: means)
        }
        let own = try PeerID(displayName: name, identity: ann)
        for (entries, isMeant) in [
            ([entry(ann, name, .code)], true), ([entry(ann, name, nil)], false),
            ([entry(ann, name, .code), entry(other, name, .code)], false),
            ([entry(ann, "bob", .code)], false), ([entry(other, name, .code)], false), ([], false),
        ] {
            var store = TrustStore()
            for entry in entries {
                let isKept = store.remember(entry)
                #expect(isKept)
            }
            var matcher = PeerMatcher(
                for: try #require(PeerSelector(name)), as: .send(nil), knowing: store)
            matcher.note(try receiver(name, 7), at: .zero)
            #expect(matcher.verdict(at: .zero) == .open)
            let found = DiscoveredPeer(peer: own, info: PeerRole.receive.info)
            matcher.note(.found(found), at: .milliseconds(1))
            #expect(matcher.verdict(at: .milliseconds(1)) == (isMeant ? .found(own) : .open))
        }
    }

    @Test("two peers with one name are listed, and digits choose one of them")
    func several() throws {
        let both = [try peer("ann", 0x1f2e), try peer("ann", 0x2f2e)]
        for (text, verdict) in [
            ("ann", PeerMatcher.Verdict.several(both)), ("ann#2f2e", .found(both[1])),
            ("#1f2e", .found(both[0])),
        ] {
            var matcher = PeerMatcher(for: try #require(PeerSelector(text)), as: .send(nil))
            matcher.note(try receiver("ann", 0x2f2e), at: .zero)
            matcher.note(try receiver("ann", 0x1f2e), at: .milliseconds(1))
            #expect(matcher.verdict(at: .seconds(1)) == verdict)
        }
        var matcher = PeerMatcher(for: try #require(PeerSelector("#\(both[0].id)")), as: .send(nil))
        matcher.note(try receiver("ann", 0x1f2e), at: .zero)
        #expect(matcher.verdict(at: .zero) == .found(both[0]))
    }

    @Test("when no peer matches, those that do something else are listed")
    func summary() throws {
        var matcher = PeerMatcher(for: try #require(PeerSelector("ann")), as: .send(nil))
        #expect(matcher.summary == "is 'multipeer receive' running there?")
        matcher.note(try receiver("bob", 0x1f2e), at: .zero)
        #expect(matcher.summary == "did you mean 'bob' (id 1f2e0000)?")
        let chatting = PeerRole.chat(room: "x").info
        matcher.note(.found(DiscoveredPeer(peer: try peer("ann", 2), info: chatting)), at: .zero)
        #expect(matcher.verdict(at: .seconds(9)) == .open)
        #expect(
            matcher.summary
                == "'ann' (id 00020000) is online with another command; run 'multipeer receive' there")
    }
}
