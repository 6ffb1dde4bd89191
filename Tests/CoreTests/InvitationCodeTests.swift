import MultipeerCore
import TestSupport
import Testing

@Suite("13.8 Codes of invitations", .computing)
struct InvitationCodeTests {
    @Test(
        "a code is read as users type it",
        arguments: [
            "7-guitar-island", "7 guitar island", " 7 - Guitar  ISLAND\n", "007-guitar-island", "7-guit-isl",
            "7-guita-isl", "7–guitar–island", "7—guitar—island", "7‑guitar‐island", "7−guitar−island",
            "“7-guitar-island”", "'7-guitar-island'", "„7-guitar-island“", "«7-guitar-island»",
            "7\u{A0}guitar\u{202F}island", "\u{FEFF}7-guitar-island\u{200B}", "7－guitar\u{3000}island",
        ])
    func reading(_ text: String) throws {
        let code = try InvitationCode(parsing: text)
        #expect(code.number == 7)
        #expect(code.words == ["guitar", "island"])
        #expect(code.description == "7-guitar-island")
        #expect(code.phrase == "guitar-island")
    }

    @Test("a mistyped code is refused before anything is sent, with the word that was meant")
    func mistakes() {
        func refusal(_ text: String) -> InvalidInvitationCode? {
            do throws(InvalidInvitationCode) { _ = try InvitationCode(parsing: text) } catch { return error }
            return nil
        }
        #expect(refusal("") == .number(""))
        #expect(refusal("guitar-island") == .number("guitar"))
        for number in ["0", "1000", "+7", "٧", "7x", "99999999999999999999"] {
            #expect(refusal("\(number)-guitar-island") != nil, "\(number)")
        }
        #expect(refusal("7") == .wordCount(0))
        #expect(refusal("7-guitar") == .wordCount(1))
        #expect(refusal("7" + String(repeating: "-guitar", count: 9)) == .wordCount(9))
        for typed in ["gitar", "guittar", "guitra", "guiter", "guitars"] {
            #expect(refusal("7-\(typed)-island") == .word(typed, suggestion: "guitar"))
        }
        #expect(refusal("7-xyzzy-island") == .word("xyzzy", suggestion: nil))
        #expect(refusal("7-gu-island") == .ambiguous("gu", ["guard", "guest", "guide"]))
        #expect(refusal("7-guitar-\(String(repeating: "a", count: 100_000))") != nil)
    }

    @Test("a random code has a number from 1 to 999, words of the list, and is read back")
    func random() throws {
        var generator = Seeded(19)
        var numbers: Set<Int> = []
        for count in 0..<40 {
            let code = InvitationCode.random(words: 2 + count % 7, using: &generator)
            #expect(InvitationCode.numbers.contains(code.number))
            #expect(code.words.count == 2 + count % 7)
            #expect(code.words.allSatisfy(CodeWords.all.contains))
            #expect(try InvitationCode(parsing: "\(code)") == code)
            numbers.insert(code.number)
        }
        #expect(numbers.count > 30)
        #expect(InvitationCode.random(words: 0, using: &generator).words.count == 2)
        #expect(InvitationCode.random(words: 99, using: &generator).words.count == 8)
    }
}
