import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: arguments", .computing)
struct ArgumentsTests {
    private let usage = Usage(
        ["try"], operands: "[DATA]", mostOperands: 1, "a command for tests",
        options: [
            .init("--out", short: "o", "FILE", "a value"), .init("--quiet", short: "q", "no value"),
            .init("--verbose", short: "v", "no value"),
            .init("--listen", "ADDRESS", isRepeatable: true, "a value, again and again"),
        ])

    @Test("options and operands are accepted in any order and in both spellings")
    func sorted() throws {
        let arguments = try Arguments(
            ["--out=a=b", "x", "--quiet", "--listen", "1", "--listen", "2"], for: usage)
        #expect(arguments.value("--out") == "a=b")
        #expect(arguments.has("--quiet"))
        #expect(arguments.values("--listen") == ["1", "2"])
        #expect(arguments.operands == ["x"])
        #expect(arguments.value("--missing") == nil)
    }

    @Test(
        "an option of one letter takes its value from the same word or the next, and letters can be combined",
        arguments: [["-o", "x", "-q", "-v"], ["-ox", "-qv"], ["-qvox"], ["-vqo", "x"]])
    func letters(_ words: [String]) throws {
        let arguments = try Arguments(words, for: usage)
        #expect(arguments.value("--out") == "x" && arguments.has("--quiet") && arguments.has("--verbose"))
    }

    @Test("after -- nothing is an option, and - is an operand")
    func operands() throws {
        #expect(try Arguments(["--", "--quiet"], for: usage).operands == ["--quiet"])
        #expect(try Arguments(["--", "--help"], for: usage).wantsHelp == false)
        #expect(try Arguments(["-"], for: usage).operands == ["-"])
    }

    @Test("a request for help takes precedence over every mistake", arguments: ["--help", "-h"])
    func help(_ word: String) throws {
        #expect(try Arguments(["--nonsense", "a", "b", word], for: usage).wantsHelp)
    }

    @Test(
        "every mistake is reported in one line, with a hint",
        arguments: [
            (["--x"], "unknown option '--x'"), (["--x=1"], "unknown option '--x'"),
            (["-x"], "unknown option '-x'"), (["-qx"], "unknown option '-x' in '-qx'"),
            (["--out"], "option '--out' needs a value: FILE"),
            (["--out="], "option '--out' needs a value: FILE"),
            (["--quiet=yes"], "option '--quiet' takes no value"),
            (["-qq"], "option '--quiet' was given twice"),
            (["--out", "a", "--out", "b"], "option '--out' was given twice"),
            (["--quiet", "--quiet"], "option '--quiet' was given twice"),
            (["a", "b"], "unexpected argument 'b'"),
            (["a\n", "\u{1b}[2J"], "unexpected argument '\\u{1b}[2J'"),
        ])
    func mistakes(_ words: [String], _ text: String) {
        let expected = CommandError(text, hint: "try 'multipeer try --help'", exit: .usage)
        #expect(throws: expected) { try Arguments(words, for: usage) }
    }

    @Test("numbers and words outside the allowed range are refused")
    func values() throws {
        let arguments = try Arguments(["--out", "7"], for: usage)
        #expect(try arguments.number("--out", in: 1...7) == 7)
        #expect(try arguments.number("--listen", in: 1...7) == nil)
        let tooLarge = arguments.commandError("option '--out' takes a number from 1 to 6, not '7'")
        #expect(throws: tooLarge) { try arguments.number("--out", in: 1...6) }
        let unknown = arguments.commandError("option '--out' takes a, b or c, not '7'")
        #expect(throws: unknown) { try arguments.choice("--out", of: ["a", "b", "c"]) { $0 } }
    }

    @Test("options that exclude each other are named")
    func exclusion() throws {
        let arguments = try Arguments(["--out", "7", "--quiet", "x"], for: usage)
        #expect(throws: arguments.commandError("--out and --quiet cannot be used together")) {
            try arguments.exclude(["--out", "--quiet"])
        }
        #expect(throws: arguments.commandError("--out and an argument cannot be used together")) {
            try arguments.exclude(["--out"], orOperand: true)
        }
        try arguments.exclude(["--out", "--listen"])
    }
}

@Suite("Command: mistyped words", .computing)
struct SpellingTests {
    @Test(
        "the nearest known word is suggested: with letters wrong, missing, too many or swapped, or as its beginning",
        arguments: [
            ("send", "sned"), ("send", "sen"), ("send", "sendd"), ("receive", "recieve"), ("receive", "rec"),
            ("chat", "CHAT"), ("identity show", "identity shwo"),
        ])
    func near(_ word: String, _ typed: String) {
        #expect(Spelling.nearest(typed, of: ["send", "receive", "chat", "identity show"]) == word)
    }

    @Test(
        "nothing is suggested for a word that is near none or several",
        arguments: ["", "fly", "xx", String(repeating: "send", count: 10_000)])
    func far(_ typed: String) {
        #expect(Spelling.nearest(typed, of: ["send", "receive", "chat", "xa", "xb"]) == nil)
    }
}

@Suite("Command: text for terminals", .computing)
struct PrintableTests {
    @Test(
        "what could mislead on a terminal is escaped, everything else is left alone",
        arguments: [
            ("änn 日本 👋", "änn 日本 👋"), ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"), ("a\r\nb", "a\\u{d}\\u{a}b"),
            ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"), ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{2028}b", "a\\u{2028}b"),
            ("a\u{200b}b", "a\\u{200b}b"), ("\u{7f}", "\\u{7f}"),
        ])
    func escaped(_ text: String, _ expected: String) {
        #expect(text.printable == expected)
    }
}
