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
            ("a\u{ad}b", "a\\u{ad}b"), ("bob:\u{301} hi", "bob\\u{3a}\u{301} hi"),
            ("bob\u{ff1a} hi", "bob\\u{ff1a} hi"), ("bob\u{a789} hi", "bob\\u{a789} hi"),
            ("ann\u{fe5f}0a0a", "ann\\u{fe5f}0a0a"), ("[\u{20dd}ann", "\\u{5b}\u{20dd}ann"),
            ("multipeer", "'multipeer'"), ("Multi peer", "'Multi peer'"),
            ("mult\u{456}peer", "'mult\u{456}peer'"),
            ("* bob left", "'* bob left'"), ("\u{ff0a} bob left", "'\u{ff0a} bob left'"),
            ("multipeers", "multipeers"), ("a*b", "a*b"),
        ]
        for (name, label) in tricks { #expect(PeerLabels()[try PeerLabelsTests.peer(1, name)] == label) }
    }

    @Test("no other name can be shown as that of a peer without digits of the id")
    func lookAlikes() throws {
        let bob = try PeerLabelsTests.peer(0x0c, "bob")
        for trick in PeerLabelsTests.bobs {
            var labels = PeerLabels()
            let other = try PeerLabelsTests.peer(0x0d, trick)
            _ = labels.add(bob)
            #expect(labels.add(other) == [bob], "\(trick.unicodeScalars)")
            #expect(labels[bob] == "bob#0c0c" && labels[other].hasSuffix("#0d0d"), "\(labels[other])")
        }
        #expect(PeerLabelsTests.bobs.count >= 30)
        for name in ["bib", "rob", "bobby", "b o y", "bób", "боб", "ann"] {
            var labels = PeerLabels()
            _ = labels.add(bob)
            #expect(labels.add(try PeerLabelsTests.peer(0x0d, name)) == [], "\(name)")
        }
    }

    /// Names that look like `bob`, in some font at least.
    private static let bobs =
        [
            0xFE0F, 0xFE0E, 0x34F, 0x3164, 0x115F, 0x1160, 0xFFA0, 0x2800, 0xA0, 0x2003, 0x202F, 0x3000,
            0x200B,
            0x200C, 0x200D, 0x2060, 0x2063, 0xAD, 0x61C, 0x180B, 0x17B4, 0x1D159, 0xE0061, 0xE0100,
        ].flatMap { value -> [String] in
            guard let scalar = Unicode.Scalar(UInt32(value)) else { return [] }
            return ["bob\(scalar)", "b\(scalar)ob"]
        } + [
            "b\u{43E}b", "b\u{3BF}b", "b\u{585}b", "\u{42C}ob", "\u{FF42}\u{FF4F}\u{FF42}", "𝐛𝐨𝐛", "𝗯𝗼𝗯",
            "b0b",
            "bOb", "BOB", "\u{412}\u{41E}\u{412}", "\u{392}\u{39F}\u{392}", "b\u{665}b", "b\u{BE6}b",
            "b\u{10FF}b",
            "\u{13CF}ob", "\u{1472}ob", "b\u{3C3}b", "b\u{1D0F}b", "bo\u{184}", "bob ", "b ob", "ᵇᵒᵇ",
        ]

    @Test("what is invisible in a name is escaped, but not within an emoji")
    func emoji() throws {
        let names = [
            ("👩‍👩‍👧 ❤️ 1️⃣ 👍🏽", "👩‍👩‍👧 ❤️ 1️⃣ 👍🏽"), ("🏳️‍🌈", "🏳️‍🌈"), ("ann\u{a0}lee", "ann\u{a0}lee"),
            ("\u{FE0F}a", "\\u{fe0f}a"), ("a\u{FE0F}", "a\\u{fe0f}"), ("1\u{FE0F}", "1\\u{fe0f}"),
            ("❤️\u{FE0F}", "❤️\\u{fe0f}"), ("👩\u{200D}a", "👩\\u{200d}a"), ("bob\u{a0}", "bob\\u{a0}"),
            ("\u{3000}bob", "\\u{3000}bob"), ("a \u{2003}b", "a \\u{2003}b"), ("b\u{2800}b", "b\\u{2800}b"),
        ]
        for (name, label) in names { #expect(PeerLabels()[try PeerLabelsTests.peer(1, name)] == label) }
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
