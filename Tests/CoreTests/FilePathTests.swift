import MultipeerCore
import TestSupport
import Testing

@Suite("Names and paths are bytes", .computing)
struct FilePathTests {
    @Test("two texts that look the same are two names, with an order")
    func equality() {
        let (one, two) = (FilePath("\u{e9}"), FilePath("e\u{301}"))
        #expect(one.text == two.text && one != two)
        #expect(Set([one, two, one]).count == 2 && two < one && !(one < two))
        #expect([FilePath("d"), one] != [FilePath("d"), two])
    }

    @Test("a slash is a slash, whatever follows it, and so is every other mark")
    func marks() {
        let path = FilePath("a/b/\u{301}x")
        #expect(path.name.hasBytes(of: "\u{301}x") && path.directory.hasBytes(of: "a/b/"))
        #expect(path.last.hasBytes(of: "\u{301}x"))
        #expect(FilePath("/\u{20e3}").isAbsolute && !FilePath("\u{301}/").isAbsolute)
        #expect(FilePath("/").name == "" && FilePath("a").directory == "" && FilePath("a//").name == "a")
        #expect("=\u{301}a".pieces(at: "=", atMost: 2, keepingEmpty: true).map(\.utf8.count) == [0, 3])
        #expect("@\u{301}a".rest(after: "@")?.utf8.count == 3 && "a".rest(after: "@") == nil)
        #expect("ab\u{301}".begins(with: "ab") && "/\u{301}".ends(with: "\u{301}") && !"b".ends(with: "ab"))
    }

    @Test("lines end with LF, CR LF or CR, and the last one may have no end")
    func lines() {
        #expect("one\r\ntwo\rthree\n\nfive".lines == ["one", "two", "three", "", "five"])
        #expect("".lines.isEmpty && "a\n".lines == ["a"] && "\r\n".lines == [""] && "\n\r".lines == ["", ""])
        #expect("\u{301}\n\u{301}".lines.map(\.utf8.count) == [2, 2])
    }

    @Test("what is split is joined again, with any characters between the marks")
    func joined() {
        var seed = Seeded(7)
        let scalars: [Unicode.Scalar] = [
            "/", "a", "\u{301}", "\r", "\n", "\u{200d}", "\u{1f468}", "\u{20e3}",
        ]
        for _ in 0..<2_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...12, using: &seed) {
                text.unicodeScalars.append(scalars.randomElement(using: &seed) ?? "a")
            }
            let pieces = text.pieces(at: "/", keepingEmpty: true)
            #expect(pieces.joined(separator: "/").hasBytes(of: text))
            #expect(pieces.allSatisfy { !$0.utf8.contains(UInt8(ascii: "/")) })
            let path = FilePath(text)
            #expect((path.directory + path.last).hasBytes(of: text))
            #expect(FilePath(path.text) == path && FilePath(pieces.map { FilePath(String($0)) }) == path)
            let ends: [UInt8] = [10, 13]
            #expect(text.lines.allSatisfy { $0.utf8.allSatisfy { !ends.contains($0) } })
        }
    }
}
