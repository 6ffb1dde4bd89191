import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: what is shown of a peer's text", .computing)
struct ShownTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let text: String
        /// As it is shown in a message, and as a name; nil if it is shown as it is.
        let message: String?
        let name: String?

        init(_ what: String, _ text: String, _ message: String? = nil, name: String?? = .none) {
            (self.what, self.text, self.message) = (what, text, message)
            self.name = name ?? message
        }

        var testDescription: String { what }
    }

    /// Each kind of character that shows nothing, or changes what is around it: where it is kept, and where it is escaped.
    private static let rows = [
        // Emoji are shown as they are.
        Row("a family", "👩\u{200D}👩\u{200D}👧\u{200D}👦"), Row("a couple", "👩\u{200D}❤\u{FE0F}\u{200D}👨"),
        Row("a skin tone", "👍🏽"), Row("a skin tone before a profession", "👩🏽\u{200D}🚀"),
        Row("a heart in colour", "❤\u{FE0F}"), Row("the flag of a country", "🇩🇪"),
        Row("a rainbow flag", "🏳\u{FE0F}\u{200D}🌈"),
        Row("a key", "1\u{FE0F}\u{20E3}"), Row("a letter with an accent of its own", "e\u{301}"),
        Row("Korean in parts", "\u{1112}\u{1161}\u{11AB}"),
        // In messages only.
        Row("a heart without colour", "❤\u{FE0E}", name: "❤\\u{fe0e}"),
        Row(
            "the flag of Scotland", "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
            name: "🏴\\u{e0067}\\u{e0062}\\u{e0073}\\u{e0063}\\u{e0074}\\u{e007f}"),
        // The same characters elsewhere.
        Row("a joiner between letters", "a\u{200D}b", "a\\u{200d}b"),
        Row("a joiner at the end", "👩\u{200D}", "👩\\u{200d}"),
        Row("a joiner at the beginning", "\u{200D}👩", "\\u{200d}👩"),
        Row("a joiner before a letter", "👩\u{200D}a", "👩\\u{200d}a"),
        Row("two joiners", "👩\u{200D}\u{200D}👩", "👩\\u{200d}\\u{200d}👩"),
        Row("a joiner after half a flag", "🇩\u{200D}👩", "🇩\\u{200d}👩"),
        Row("a selector after a letter", "a\u{FE0F}", "a\\u{fe0f}"),
        Row("a selector after a digit", "1\u{FE0F}", "1\\u{fe0f}"),
        Row("two selectors", "❤\u{FE0F}\u{FE0F}", "❤\u{FE0F}\\u{fe0f}"),
        Row("a joiner after a stray selector", "a\u{FE0F}\u{200D}👩", "a\\u{fe0f}\\u{200d}👩"),
        Row("another selector", "❤\u{FE00}", "❤\\u{fe00}"),
        Row("a selector for ideographs", "葛\u{E0100}", "葛\\u{e0100}"),
        Row("tags after a letter", "a\u{E0067}", "a\\u{e0067}"),
        Row("hidden text in tags", "🏴\u{E0068}\u{E0069}\u{E007F}", "🏴\\u{e0068}\\u{e0069}\\u{e007f}"),
        Row(
            "a flag with more tags",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E0061}\u{E007F}",
            "🏴\\u{e0067}\\u{e0062}\\u{e0065}\\u{e006e}\\u{e0067}\\u{e0061}\\u{e007f}"),
        // What turns text around.
        Row("right-to-left override", "a\u{202E}b", "a\\u{202e}b"),
        Row("left-to-right override", "\u{202D}", "\\u{202d}"),
        Row("embeddings", "\u{202A}\u{202B}\u{202C}", "\\u{202a}\\u{202b}\\u{202c}"),
        Row("isolates", "\u{2066}\u{2067}\u{2068}\u{2069}", "\\u{2066}\\u{2067}\\u{2068}\\u{2069}"),
        Row("marks of direction", "\u{200E}\u{200F}\u{61C}", "\\u{200e}\\u{200f}\\u{61c}"),
        Row("a direction within an emoji", "👩\u{202E}\u{200D}👩", "👩\\u{202e}\\u{200d}👩"),
        // What controls a terminal.
        Row("escape", "\u{1B}[2J", "\\u{1b}[2J"), Row("bell and backspace", "\u{7}\u{8}", "\\u{7}\\u{8}"),
        Row("carriage return", "a\rb", "a\\u{d}b"), Row("delete", "\u{7F}", "\\u{7f}"),
        Row("C1", "\u{9B}1m", "\\u{9b}1m"),
        Row("line breaks of Unicode", "\u{2028}\u{2029}\u{85}", "\\u{2028}\\u{2029}\\u{85}"),
        // What shows nothing.
        Row("a zero-width space", "a\u{200B}b", "a\\u{200b}b"),
        Row("a non-joiner", "a\u{200C}b", "a\\u{200c}b"),
        Row("a word joiner", "\u{2060}", "\\u{2060}"), Row("a byte order mark", "\u{FEFF}a", "\\u{feff}a"),
        Row("a soft hyphen", "a\u{AD}b", "a\\u{ad}b"), Row("a grapheme joiner", "a\u{34F}b", "a\\u{34f}b"),
        Row("a filler of Korean", "\u{3164}", "\\u{3164}"),
        Row("an empty pattern of Braille", "a\u{2800}b", "a\\u{2800}b"),
        Row("invisible operators", "a\u{2062}b", "a\\u{2062}b"),
        Row("annotations", "\u{FFF9}\u{FFFB}", "\\u{fff9}\\u{fffb}"),
        Row("joiners of hieroglyphs", "\u{13430}", "\\u{13430}"),
        Row("marks of music", "\u{1D173}", "\\u{1d173}"),
        // Spaces show between two characters.
        Row("a wide space within", "a\u{3000}b"), Row("a fixed space within", "a\u{A0}b"),
        Row("a wide space at the end", "a\u{3000}", "a\\u{3000}"),
        Row("two fixed spaces", "a\u{A0}\u{A0}b", "a\\u{a0}\\u{a0}b"),
        // What has ink is shown, whatever it is.
        Row("a sign of Arabic that encloses a number", "\u{601}1"), Row("for private use", "\u{E0B0}"),
    ]

    @Test("invisible characters are kept where they show, and escaped elsewhere", arguments: rows)
    func table(_ row: Row) {
        #expect(row.text.printableText == row.message ?? row.text)
        #expect(row.text.printable == row.name ?? row.text)
    }

    @Test(
        "a message that comes in pieces is shown like a whole one, after the end of its line at the latest",
        arguments: rows)
    func pieces(_ row: Row) {
        // The line end that follows a carriage return makes it a part of it.
        let text = row.text + "x\n"
        let bytes = Array(text.utf8)
        for size in 1...bytes.count {
            var filter = TerminalText()
            var output: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                output += filter.render(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(
                String(decoding: output, as: UTF8.self) == "\((row.text + "x").printableText)\n", "\(size)")
            #expect(filter.finish().isEmpty)
        }
    }

    @Test(
        "the columns of a text are those of a terminal that shows an emoji as one, and at most the sum of its parts",
        arguments: [
            ("ann", 3, 3), ("Zoe\u{308}", 3, 3), ("日本", 4, 4), ("한", 2, 2),
            ("\u{1112}\u{1161}\u{11AB}", 2, 2), ("ｶ", 1, 1),
            ("👩\u{200D}👩\u{200D}👧", 2, 6), ("👍🏽", 2, 4), ("🇩🇪", 2, 4), ("❤", 1, 1), ("❤\u{FE0F}", 2, 2),
            ("1\u{FE0F}\u{20E3}", 2, 2), ("⌚", 2, 2), ("🏳", 1, 1), ("é", 1, 1), ("", 0, 0),
        ])
    func columns(_ text: String, _ columns: Int, _ most: Int) {
        #expect(text.columns == columns)
        #expect(text.reduce(0) { $0 + $1.mostColumns } == most)
    }

    @Test(
        "the locale says whether a terminal gets UTF-8: the first variable that is set counts",
        arguments: [
            ([:], false), (["LANG": "en_US.UTF-8"], true), (["LANG": "de_DE.utf8"], true),
            (["LANG": "C.UTF-8"], true),
            (["LANG": "en_US.UTF-8", "LC_ALL": "C"], false), (["LANG": "C", "LC_CTYPE": "UTF-8"], true),
            (["LANG": "C", "LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true),
            (["LC_CTYPE": "POSIX", "LANG": "C.UTF-8"], false),
            (["LANG": "de_DE@euro"], false), (["LANG": "ca_ES.UTF-8@valencia"], true),
            (["LANG": "ru_RU.KOI8-R"], false),
        ] as [([String: String], Bool)])
    func locale(_ environment: [String: String], _ isUTF8: Bool) {
        #expect(OutputEncoding.isUTF8(environment) == isUTF8)
        #expect("é👩 x".asASCII == "\\u{e9}\\u{1f469} x")
    }
}
