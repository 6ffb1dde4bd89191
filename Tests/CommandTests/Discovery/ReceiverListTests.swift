import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: the receivers to choose from", .computing)
struct ReceiverListTests {
    private func peer(_ name: String, _ digits: UInt64) throws -> PeerID {
        try PeerID(uid: UID(high: digits << 48, low: 0), displayName: name)
    }

    private func event(_ peer: PeerID, _ role: PeerRole = .receive, code: Int? = nil) -> DiscoveredPeer.Event
    {
        .found(DiscoveredPeer(peer: peer, info: role.info, codeNumber: code))
    }

    private func list(_ names: String...) throws -> ReceiverList {
        var list = ReceiverList(as: .send(nil))
        for (index, name) in names.enumerated() {
            _ = list.note(event(try peer(name, UInt64(index + 1))))
        }
        return list
    }

    /// Returns the effect of the last key.
    private func type(_ keys: String, in list: inout ReceiverList) -> ReceiverList.Effect {
        keys.utf8.map { list.take($0) }.last ?? .nothing
    }

    @Test("receivers are listed with numbers that they keep, and nothing else is")
    func numbers() throws {
        var list = try list("ann", "bob")
        #expect(list.note(event(try peer("cid", 7), .chat(room: "x"))) == nil)
        #expect(list.note(event(try peer("dan", 8), code: 7)) == nil)
        #expect(list.note(.lost(try peer("ann", 1))) == "1  ann is gone")
        #expect(list.note(event(try peer("eve", 9))) == "3  eve  (id 00090000)")
        #expect(list.note(event(try peer("bob", 2))) == nil)
        #expect(try list.choice("2") == peer("bob", 2))
        #expect(list.choice("1") == nil)
        #expect(list.choice("4") == nil)
        #expect(try list.choice("BO") == peer("bob", 2))
        let lines = list.lines(width: 40, height: 20)
        #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 40 })
        #expect(lines[1] == "  2  bob  (id 00020000)")
    }

    @Test("a digit chooses at once, unless a longer number begins with it")
    func digits() throws {
        var few = try list("ann", "bob")
        #expect(type("2", in: &few) == .chosen(try peer("bob", 2)))
        var many = ReceiverList(as: .send(nil))
        for number in UInt64(1)...12 { _ = many.note(event(try peer("p\(number)", number))) }
        #expect(type("1", in: &many) == .changed)
        #expect(type("2", in: &many) == .chosen(try peer("p12", 12)))
        var others = many
        #expect(type("\u{7f}\u{7f}1\r", in: &others) == .chosen(try peer("p1", 1)))
        #expect(type("9", in: &few) == .changed)
        #expect(type("\r", in: &few) == .changed)
    }

    @Test("arrows mark a receiver, which Enter chooses as long as it is there")
    func arrows() throws {
        var list = try list("ann", "bob", "cid")
        #expect(type("\r", in: &list) == .changed)
        #expect(type("\u{1b}[B", in: &list) == .changed)
        #expect(type("\u{1b}OB", in: &list) == .changed)
        #expect(list.lines(width: 60, height: 20)[2].hasPrefix("> 2  bob"))
        var other = list
        #expect(type("\r", in: &other) == .chosen(try peer("bob", 2)))
        _ = list.note(.lost(try peer("bob", 2)))
        #expect(type("\r", in: &list) == .changed)
        #expect(type("\u{1b}[A\r", in: &list) == .chosen(try peer("cid", 3)))
        #expect(type("\u{1b}[1;5Cx", in: &list) == .nothing)
    }

    @Test("Enter chooses the only receiver, which is marked, and none of several")
    func only() throws {
        var list = try list("ann")
        #expect(list.lines(width: 60, height: 20)[1].hasPrefix("> 1  ann"))
        var other = list
        #expect(type("\r", in: &other) == .chosen(try peer("ann", 1)))
        #expect(try list.choice("") == peer("ann", 1))
        _ = list.note(event(try peer("bob", 2)))
        #expect(list.lines(width: 60, height: 20)[1].hasPrefix("  1  ann"))
        #expect(type("\r", in: &list) == .changed)
        #expect(list.choice("") == nil)
        var none = ReceiverList(as: .send(nil))
        #expect(type("\r", in: &none) == .changed)
    }

    @Test("a long list shows the rows around the marked one, and how many there are besides")
    func height() throws {
        var list = ReceiverList(as: .send(nil))
        for number in UInt64(1)...30 { _ = list.note(event(try peer("p\(number)", number))) }
        for _ in 0..<20 { _ = type("\u{1b}[B", in: &list) }
        let lines = list.lines(width: 60, height: 10)
        #expect(lines.count == 10)
        #expect(lines.contains { $0.hasPrefix("> 20  p20") })
        #expect(lines.last == "  and 22 more")
        #expect(ReceiverList(as: .send(nil)).lines(width: 60, height: 10).count == 1)
    }
}
