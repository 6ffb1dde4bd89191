import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: names in a room", .computing)
struct PeerLabelsTests {
    private let ann: PeerID
    private let other: PeerID
    private let bob: PeerID

    init() throws {
        ann = try PeerLabelsTests.peer(0x0a, "ann")
        other = try PeerLabelsTests.peer(0x0b, "ann")
        bob = try PeerLabelsTests.peer(0x0c, "bob")
    }

    private static func peer(_ byte: UInt8, _ name: String, tail: UInt8 = 0) throws -> PeerID {
        let uid = try #require(UID([UInt8](repeating: byte, count: 15) + [tail]))
        return try PeerID(uid: uid, displayName: name)
    }

    @Test("a name that two peers have is followed by digits for both, and the renamed peer is returned")
    func same() {
        var labels = PeerLabels()
        #expect(labels.add(ann) == [])
        #expect(labels.add(bob) == [])
        #expect(labels[ann] == "ann")
        #expect(labels.add(other) == [ann])
        #expect([ann, other, bob].map { labels[$0] } == ["ann#0a0a", "ann#0b0b", "bob"])
        #expect(labels.add(other) == [])
        labels.remove(ann)
        #expect(labels[other] == "ann")
    }

    @Test("a peer that comes back with another name gets that name")
    func renamed() throws {
        var labels = PeerLabels()
        for peer in [ann, other] { _ = labels.add(peer) }
        #expect(labels.add(try PeerLabelsTests.peer(0x0b, "eve")) == [ann])
        #expect([ann, other].map { labels[$0] } == ["ann", "eve"])
    }

    @Test("enough digits are shown to tell two peers apart, even when they differ late")
    func digits() throws {
        var labels = PeerLabels()
        let (one, two) = (
            try PeerLabelsTests.peer(7, "x", tail: 1), try PeerLabelsTests.peer(7, "X", tail: 2)
        )
        _ = labels.add(one)
        _ = labels.add(two)
        #expect(labels[one] == "x#" + String(repeating: "07", count: 15) + "01")
        #expect(labels[two] == "X#" + String(repeating: "07", count: 15) + "02")
    }

    @Test("no name can look like a message of another peer, or like a name with digits")
    func escapes() throws {
        let tricks = [
            ("bob: hi", "bob\\u{3a} hi"), ("ann#0a0a", "ann\\u{23}0a0a"), ("a > you", "a \\u{3e} you"),
            ("a\u{ad}b", "a\\u{ad}b"),
        ]
        for (name, label) in tricks { #expect(PeerLabels()[try PeerLabelsTests.peer(1, name)] == label) }
    }

    @Test("the longest name that a text begins or ends with is found")
    func find() throws {
        var labels = PeerLabels()
        let lee = try PeerLabelsTests.peer(9, "bob lee")
        for peer in [ann, bob, lee] { _ = labels.add(peer) }
        #expect(labels.find(at: "bob lee hello  you")?.peer == lee)
        #expect(labels.find(at: "bob lee hello  you")?.rest == "hello  you")
        #expect(labels.find(at: "bob: hello")?.rest == "hello")
        #expect(labels.find(at: "bob leeward")?.peer == bob)
        #expect(labels.find(at: "bobby hello") == nil)
        #expect(labels.find(atEndOf: "my file bob lee")?.rest == "my file")
        #expect(labels.find(atEndOf: "my file") == nil)
        #expect(labels.find(atEndOf: "bob") == nil)
    }
}
