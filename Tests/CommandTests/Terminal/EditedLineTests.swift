import Foundation
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: a line that is typed", .computing)
struct EditedLineTests {
    /// Up to the last key, without what changes nothing but the line.
    private func typed(_ keys: String) -> [EditedLine.Effect] {
        var line = EditedLine()
        return keys.utf8.map { line.take($0) }.filter { ![.changed, .nothing].contains($0) }
    }

    private static let (up, down, right, left) = ("\u{1b}[A", "\u{1b}[B", "\u{1b}[C", "\u{1b}[D")

    @Test(
        "keys edit the line as in a shell",
        arguments: [
            ("helo\u{7f}lo", "hello"), ("bö\u{8}öb", "böb"), ("one\u{15}x", "x"), ("one two\u{17}", "one "),
            ("one two  \u{17}", "one "), ("bc\u{1}a", "abc"), ("bc\u{1}a\u{5}d", "abcd"), ("ac\u{2}b", "abc"),
            ("ab\u{1}\u{6}x", "axb"), ("abc\u{1}\u{4}", "bc"), ("abc\u{2}\u{b}", "ab"),
            ("one two\u{2}\u{2}\u{2}\u{b}\u{1}\u{19}", "twoone "), ("one two\u{1b}bx", "one xtwo"),
            ("one two\u{1}\u{1b}fx", "onex two"), ("one two\u{1}\u{1b}d", " two"),
            ("one two\u{1b}\u{7f}", "one "),
            ("ac\(left)b", "abc"), ("ac\u{1b}ODb", "abc"), ("ab\(left)\(left)\(right)x", "axb"),
            ("bc\u{1b}[Ha\u{1b}[Fd", "abcd"), ("bc\u{1b}[1~a\u{1b}[4~d", "abcd"),
            ("bc\u{1b}OHa\u{1b}OFd", "abcd"),
            ("abc\u{1}\u{1b}[3~", "bc"), ("one two\u{1b}[1;5Dx", "one xtwo"),
            ("one two\u{1b}[1;5D\u{1b}[1;3Cx", "one twox"),
            ("a\u{1b}[5~\u{1b}[24~\u{1b}[1;2Pb\u{1b}xc\u{1}\u{3}\u{e}", "abc"),
            ("👩‍👩‍👧\u{7f}", ""), ("a👩‍👩‍👧b\(left)\(left)\u{4}", "ab"), ("ex\u{301}\u{7f}", "e"),
        ])
    func keys(_ keys: String, _ line: String) { #expect(typed(keys + "\r") == [.entered(line)]) }

    @Test("Ctrl-D ends the input on an empty line only, and Ctrl-L clears the screen but not the line")
    func ends() {
        #expect(typed("x\u{4}\n\u{4}") == [.entered("x"), .ended])
        #expect(typed("ab\u{c}\n") == [.cleared, .entered("ab")])
    }

    @Test("Ctrl-Z suspends, and the line is as it was; within pasted text it does not")
    func suspends() {
        #expect(typed("ab\u{1a}c\n") == [.suspended, .entered("abc")])
        #expect(typed("\u{1b}[200~a\u{1a}b\u{1b}[201~\n") == [.entered("ab")])
    }

    @Test("keys and characters may be split between reads anywhere")
    func split() {
        var line = EditedLine()
        let effects = "日本\u{1b}[D語\u{1b}[1;5D\u{1b}[3~é\n".utf8.map { line.take($0) }
        #expect(effects.last == .entered("é語本"))
    }

    @Test("a key that is not finished does not swallow Return or the next key")
    func unfinished() {
        #expect(typed("a\u{1b}\n") == [.entered("a")])
        #expect(typed("a\u{1b}[1\n") == [.entered("a")])
        #expect(typed("ab\u{1b}[1\u{1b}[Dx\n") == [.entered("axb")])
        #expect(typed("a\u{1b}O\nb\n") == [.entered("a"), .entered("b")])
    }

    @Test("pasted text is one line until Return, whatever it contains")
    func paste() {
        let (begin, end) = ("\u{1b}[200~", "\u{1b}[201~")
        #expect(
            typed("a\(begin)b\r\nc\rd\ne\u{1}\u{3}\t\u{1b}[Df\u{1b}bg\(end)h\r") == [
                .entered("ab\nc\nd\ne fgh")
            ])
        #expect(typed("\(begin)/leave\r\(end)\u{15}x\r") == [.entered("x")])
    }

    @Test("the arrows go through the lines that were entered, and back to the one that is typed")
    func history() {
        let (up, down) = (EditedLineTests.up, EditedLineTests.down)
        #expect(typed("a\nb\nc\(up)\n") == [.entered("a"), .entered("b"), .entered("b")])
        #expect(typed("a\nb\nc\(up)\u{10}!\n").last == .entered("a!"))
        #expect(typed("a\nb\nc\(up)\(up)\(up)\(down)\(down)\u{e}d\n").last == .entered("cd"))
        #expect(typed("a\nb\nc\(up)\(up)\(down)\n").last == .entered("b"))
        #expect(typed("a\na\n \n\nb\n\(up)\(up)\n").last == .entered("a"))
    }

    @Test("the history is bounded in lines and in bytes, and forgets the oldest")
    func bounds() {
        var history = LineHistory(mostLines: 3, mostBytes: 10)
        for line in ["1", "2", "3", "4"] { history.add(line) }
        #expect(history.count == 3)
        #expect((1...4).map { _ in history.older(than: "") } == ["4", "3", "2", nil])
        history.add("123456789")
        #expect(history.count == 2)
        history.add("more than ten")
        #expect(history.count == 2)
        #expect(history.older(than: "") == "123456789")
    }

    @Test(
        "Tab completes names and commands, and a second one lists what is possible",
        arguments: [
            ("@zo\t", "@zoe ", nil), ("@ZO\t", "@zoe ", nil), ("@an\t", "@ann", nil),
            ("@ann\t\t", "@ann", ["ann lee", "anna"]),
            ("@ann \t", "@ann lee ", nil), ("hi @zo\t", "hi @zoe ", nil), ("a@zo\t", "a@zo", nil),
            ("/pe\t", "/peers ", nil), ("/\t\t", "/", ["/code", "/peers", "/to"]),
            ("/to z\t", "/to zoe ", nil),
            ("/code a\t\t", "/code ann", ["ann lee", "anna"]), ("/peers a\t\t", "/peers a", nil),
            ("x\t\ty", "xy", nil),
            ("@q\t\t", "@q", nil), ("@zo!\u{1b}[D\t", "@zoe !", nil), ("@\tz\t", "@zoe ", nil), ("", "", nil),
        ] as [(String, String, [String]?)])
    func tab(_ keys: String, _ text: String, _ choices: [String]?) {
        var completion = LineCompletion(
            commands: ["/peers", "/to", "/code"], commandsWithName: ["/to", "/code"])
        completion.names = ["zoe", "anna", "ann lee"]
        var line = EditedLine(completion: completion)
        let effects = keys.utf8.map { line.take($0) }
        #expect(line.text == text)
        let listed = effects.compactMap { if case .choices(let words) = $0 { words } else { nil } }
        #expect(listed == (choices.map { [$0] } ?? []))
    }

    @Test(
        "Tab completes the path of a file to send, and the name after it",
        arguments: [
            ("ph\t", "photo ", nil), ("\t\t", "", ["Photo", "album/", "bad\u{1b}[2J", "photo"]),
            ("al\t", "album/", nil), ("album/\t\t", "album/one.", ["one.jpg", "one.png"]),
            ("album/o\t", "album/one.", nil), ("album/one.j\t", "album/one.jpg ", nil),
            (".h\t", ".hidden ", nil), (".\t", ".hidden ", nil), ("ba\t", "bad\u{1b}[2J ", nil),
            ("gone/\t\t", "gone/", nil), ("photo z\t", "photo zoe ", nil), ("gone z\t", "gone z", nil),
            ("~\t", "~/", nil), ("https://x\t\t", "https://x", nil),
        ] as [(String, String, [String]?)])
    func path(_ keys: String, _ text: String, _ choices: [String]?) throws {
        let folder = try Folder()
        for name in ["Photo", "photo", "bad\u{1b}[2J", ".hidden", "album/one.jpg", "album/one.png"] {
            let file = URL(filePath: folder.path(name))
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        var completion = RoomCommand.completion
        completion.folder = folder.path("")
        completion.names = ["zoe"]
        var line = EditedLine(completion: completion)
        let effects = "/send \(keys)".utf8.map { line.take($0) }
        #expect(line.text == "/send \(text)")
        let listed = effects.compactMap { if case .choices(let words) = $0 { words } else { nil } }
        #expect(listed == (choices.map { [$0] } ?? []))
        #expect(!line.view(width: 100).text.contains("\u{1b}"))
    }

    @Test(
        "what is shown fits the width, has the cursor in it, and no character that is split",
        arguments: [
            ("hello", 10, "hello", nil), ("hello", 4, "ello", nil), ("hello\u{7}", 10, "hello", nil),
            ("日本", 3, "本", nil), ("👩‍👩‍👧", 6, "👩‍👩‍👧", nil), ("👩‍👩‍👧", 5, "", nil), ("abcdefgh\u{1}", 4, "abcd", ""),
            ("abcdefgh\u{1b}[D\u{1b}[D", 4, "defg", "def"), ("ab\u{1b}[D", 4, "ab", "a"),
            ("x\u{1b}[200~\n\u{1b}[201~y", 9, "x\u{21B5}y", nil), ("\u{202e}a", 9, "\\u{202e}a", nil),
        ] as [(String, Int, String, String?)])
    func view(_ keys: String, _ width: Int, _ text: String, _ beforeCursor: String?) {
        var line = EditedLine()
        for byte in keys.utf8 { _ = line.take(byte) }
        let view = line.view(width: width)
        #expect(view.text == text)
        #expect(view.beforeCursor == beforeCursor)
    }

    @Test("on a terminal that shows ASCII only, the rest of the line is escaped, and the line itself is not")
    func ascii() {
        var line = EditedLine()
        for byte in "é\u{1b}[200~\n\u{1b}[201~".utf8 { _ = line.take(byte) }
        #expect(line.view(width: 20, isASCII: true).text == "\\u{e9}\\n")
        #expect(line.text == "é\n")
    }

    @Test("what has no room is reported once, and again after the line was shorter")
    func full() {
        var line = EditedLine(longest: 5)
        func take(_ keys: String) -> [EditedLine.Effect] { keys.utf8.map { line.take($0) } }
        #expect(take("abcde").allSatisfy { $0 == .changed })
        #expect(take("fgh") == [.full, .nothing, .nothing])
        #expect(take("\u{7f}xy") == [.changed, .changed, .full])
        #expect(take("\n") == [.entered("abcdx")])
        #expect(take("abcdef").last == .full)
    }

    @Test("a long line is shown without looking at all of it")
    func long() {
        var line = EditedLine()
        for byte in String(repeating: "0123456789", count: 20_000).utf8 { _ = line.take(byte) }
        #expect(line.text.utf8.count == 200_000)
        for _ in 0..<1_000 { #expect(line.view(width: 20).text == "01234567890123456789") }
    }

    @Test("bytes that are not text do no lasting harm, and a line has a limit", arguments: 0..<8)
    func garbage(_ seed: UInt64) {
        var random = Seeded(seed)
        var line = EditedLine(longest: 20)
        for byte in random.bytes(4_000) {
            _ = line.take(byte)
            #expect(line.text.utf8.count <= 20)
            #expect(line.view(width: 7).text.columns <= 7)
        }
        for byte in "\u{1b}[201~\u{1b}\u{1b}x\u{15}\n".utf8 { _ = line.take(byte) }
        for byte in "fine".utf8 { _ = line.take(byte) }
        #expect(line.take(0x0A) == .entered("fine"))
    }
}
