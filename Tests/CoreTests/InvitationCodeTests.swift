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

    @Test("what is one mistake away from a code is taken for a code, and not for a name")
    func nearMisses() throws {
        var random = Seeded(44)
        let separators = [
            "-", " ", "–", "—", "‑", "−", "－", "\u{A0}", "\u{200B}", "_", ".", ",", "/", "+", "",
        ]
        let marks = separators + ["7", "0", "9", "x", "O", "é", "٧", "\u{301}", "’", "\"", "\n"]
        for _ in 0..<2_000 {
            let code = InvitationCode.random(words: 2, using: &random)
            var parts = ["\(code.number)", code.words[0], code.words[1]]
            var separator = ["-", "-"]
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                separator[Int.random(in: 0..<2, using: &random)] = try #require(
                    separators.randomElement(using: &random))
            case 1:
                let mark = try #require(separators.dropLast().randomElement(using: &random))
                separator = [mark, mark]
            default:
                // One letter or digit changed, left out or added.
                let place = Int.random(in: 0..<3, using: &random)
                var letters = Array(parts[place])
                let letter = Int.random(in: 0..<letters.count, using: &random)
                let mark = Array(try #require(marks.randomElement(using: &random)))
                letters.replaceSubrange(letter..<letter + Int.random(in: 0...1, using: &random), with: mark)
                parts[place] = String(letters)
            }
            let text = parts[0] + separator[0] + parts[1] + separator[1] + parts[2]
            // A code without its number is nothing that could be told from a name.
            guard parts[0].contains(where: { $0.isLetter || $0.isNumber }) else { continue }
            #expect(InvitationCode.isMeant(by: [text]), "\(text)")
        }
        for name in [
            "guitar-island", "my-guitar", "holidays-2024", "2024-07 photos", "12345-guitar-island", "", "-",
        ] {
            #expect(!InvitationCode.isMeant(by: [name]), "\(name)")
        }
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
