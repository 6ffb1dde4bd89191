import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: whom a name means", .computing)
struct SearchTests {
    private func peer(_ name: String, _ digits: UInt64) throws -> PeerID {
        try PeerID(uid: UID(high: digits << 48, low: 0), displayName: name)
    }

    private func receiver(_ name: String, _ digits: UInt64) throws -> BrowserEvent {
        .found(DiscoveredPeer(peer: try peer(name, digits), info: Purpose.receive.info))
    }

    @Test("a name, a name with digits, and digits alone")
    func addressees() throws {
        let (one, other) = (try peer("ann", 0x1f2e), try peer("ann", 0x1f3e))
        #expect(Addressee("ann")?.means(one) == true && Addressee("ann")?.means(other) == true)
        #expect(Addressee("ann#1F2e")?.means(one) == true && Addressee("ann#1f2e")?.means(other) == false)
        #expect(Addressee("#1f3e")?.means(other) == true && Addressee("bob#1f3e")?.means(other) == false)
        #expect(Addressee("Ann")?.means(one) == false)
        #expect(Addressee("#" + one.id)?.isExact == true)
        for text in ["", "#", "ann#", "ann#123", "ann#xyzw", "#" + one.id + "0"] {
            #expect(Addressee(text) == nil, "\(text)")
        }
    }

    @Test("one of a name is found after a moment, in which another could have come")
    func one() throws {
        var search = Search(for: try #require(Addressee("ann")))
        #expect(search.verdict(at: .seconds(9)) == .open && search.deadline == nil)
        search.note(try receiver("bob", 1), at: .seconds(1))
        #expect(search.deadline == nil)
        search.note(try receiver("ann", 2), at: .seconds(2))
        #expect(search.verdict(at: .seconds(2)) == .open)
        #expect(search.deadline == .seconds(2) + Search.patience)
        #expect(search.verdict(at: .seconds(2) + Search.patience) == .found(try peer("ann", 2)))
        search.note(.lost(try peer("ann", 2)), at: .seconds(3))
        #expect(search.verdict(at: .seconds(9)) == .open)
    }

    @Test("two of a name are both told, and digits choose one of them")
    func several() throws {
        let both = [try peer("ann", 0x1f2e), try peer("ann", 0x2f2e)]
        for (text, verdict) in [
            ("ann", Search.Verdict.several(both)), ("ann#2f2e", .found(both[1])), ("#1f2e", .found(both[0])),
        ] {
            var search = Search(for: try #require(Addressee(text)))
            search.note(try receiver("ann", 0x2f2e), at: .zero)
            search.note(try receiver("ann", 0x1f2e), at: .milliseconds(1))
            #expect(search.verdict(at: .seconds(1)) == verdict)
        }
        var search = Search(for: try #require(Addressee("#\(both[0].id)")))
        search.note(try receiver("ann", 0x1f2e), at: .zero)
        #expect(search.verdict(at: .zero) == .found(both[0]))
    }

    @Test("who is there and does something else is told when nobody is found")
    func summary() throws {
        var search = Search(for: try #require(Addressee("ann")))
        #expect(search.summary == "nobody who receives was found")
        search.note(try receiver("bob", 0x1f2e), at: .zero)
        #expect(search.summary == "only 'bob' (id 1f2e0000)")
        let chatting = Purpose.chat(room: "x").info
        search.note(.found(DiscoveredPeer(peer: try peer("ann", 2), info: chatting)), at: .zero)
        #expect(search.verdict(at: .seconds(9)) == .open)
        #expect(
            search.summary == "'ann' (id 00020000) is there, but does not receive: 'multipeer receive' does")
    }
}
