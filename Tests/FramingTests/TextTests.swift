import MultipeerCore
import MultipeerFraming
import TestSupport
import Testing

@Suite("2.4 Text", .computing)
struct TextTests {
    /// One fault each.
    static let notUTF8: [[UInt8]] = [
        [0x80], [0xC3], [0xC0, 0x80], [0xC1, 0xBF], [0xE2, 0x82], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
        [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
        [0x61, 0xBF, 0x61],
    ]

    static func name(_ bytes: [UInt8]) -> String? { try? DisplayName.read(bytes.span) }

    @Test("a name has 1 to 63 bytes [peer.name]")
    func length() {
        #expect(TextTests.name([]) == nil)
        #expect(TextTests.name([0x61]) == "a")
        #expect(TextTests.name([UInt8](repeating: 0x61, count: 63)) == String(repeating: "a", count: 63))
        #expect(TextTests.name([UInt8](repeating: 0x61, count: 64)) == nil)
        #expect(DisplayName.isValid(String(repeating: "é", count: 31)))
        #expect(!DisplayName.isValid(String(repeating: "é", count: 32)))
    }

    @Test("a name is valid UTF-8 [peer.name]", arguments: notUTF8)
    func encoding(_ bytes: [UInt8]) {
        #expect(TextTests.name(bytes) == nil)
    }

    @Test("a name has no control character and none that changes the direction of text [peer.name]")
    func controls() {
        let refused: [ClosedRange<UInt32>] = [0...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069]
        for value in UInt32(0)...0x2100 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let name = "a" + String(Character(scalar)) + "b"
            #expect(DisplayName.isValid(name) == !refused.contains { $0.contains(value) })
            #expect((TextTests.name(Array(name.utf8)) != nil) == DisplayName.isValid(name))
        }
    }

    @Test(
        "text with characters of every encoded length is read",
        arguments: ["", "a", "é", "€", "𝄞", "Ann’s phone 📱"])
    func valid(_ text: String) throws {
        #expect(try Text.read(Array(text.utf8).span) == text)
    }
}

@Suite("16 Codes", .computing)
struct CloseCodeTests {
    @Test(
        "an unknown code is read as INTERNAL [code.unknown]",
        arguments: [24, 255, 0x0102, .max] as [UInt16])
    func unknown(_ number: UInt16) {
        let code = CloseCode(rawValue: number)
        #expect(code.known == .internal)
        #expect(code.name == "INTERNAL")
        #expect(code.description == "INTERNAL (\(number))")
    }

    @Test("the codes have the names and numbers of the specification")
    func names() {
        let codes: [(CloseCode, UInt16, String)] = [
            (.ok, 0, "OK"), (.goodbye, 1, "GOODBYE"), (.protocolError, 2, "PROTOCOL"),
            (.timeout, 3, "TIMEOUT"),
            (.full, 4, "FULL"), (.policy, 5, "POLICY"), (.unknownPeer, 6, "UNKNOWN_PEER"),
            (.duplicate, 7, "DUPLICATE"), (.busy, 8, "BUSY"), (.itself, 9, "SELF"), (.badMAC, 10, "BAD_MAC"),
            (.rejected, 11, "REJECTED"), (.tooLarge, 12, "TOO_LARGE"), (.flow, 13, "FLOW"),
            (.flood, 14, "FLOOD"),
            (.version, 15, "VERSION"), (.cancelled, 16, "CANCELLED"), (.internal, 17, "INTERNAL"),
            (.digest, 18, "DIGEST"), (.noSpace, 19, "NO_SPACE"), (.declined, 20, "DECLINED"),
            (.wrongCode, 21, "WRONG_CODE"), (.codeRequired, 22, "CODE_REQUIRED"),
            (.tooManyFiles, 23, "TOO_MANY_FILES"),
        ]
        for (code, number, name) in codes {
            #expect(code.rawValue == number)
            #expect(code.description == name)
            #expect(code.known == code)
        }
    }
}
