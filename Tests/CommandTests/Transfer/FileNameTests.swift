import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("9 Command: the name of a received file", .computing)
struct FileNameTests {
    @Test(
        "a label becomes one harmless component [resource.label]",
        arguments: [
            ("report.pdf", "report.pdf"), ("änn 日本 👋.txt", "änn 日本 👋.txt"), ("a b", "a b"),
            ("/etc/passwd", "passwd"), ("../../.ssh/authorized_keys", "authorized_keys"),
            ("..", "_."), (".", "_"), ("", "file"), ("/", "file"), ("///", "file"), ("a/", "a"),
            (".bashrc", "_bashrc"), ("dir/.hidden", "_hidden"), ("-rf", "_rf"), ("~root", "_root"),
            ("a\\b", "a_b"), ("C:\\x.exe", "C:_x.exe"), ("a\u{0}b", "a_b"), ("a\nb\r", "a_b_"),
            ("\u{1b}[2Jx", "_[2Jx"), ("x\u{202e}gnp.exe", "x_gnp.exe"), ("\u{200b}", "_"), (" ", "file"),
            ("a ", "a"), (" a", "_a"), ("a\u{2028}b", "a_b"), ("\u{FFFF}", "_"), ("a/..", "_."),
            ("\u{301}x", "_\u{301}x"), ("a/\u{20e3}x", "_\u{20e3}x"), ("\u{3164}", "_"), ("a\u{a0}", "a_"),
            ("a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", "a\u{301}\u{301}\u{301}\u{301}__"),
            ("x.0123456789abcdef.multipeer-part", "x.0123456789abcdef.multipeer-part_"),
            ("multipeer-aaaaaaaa-bbbbbbbb.part", "multipeer-aaaaaaaa-bbbbbbbb.part_"),
        ])
    func label(_ label: String, _ name: String) {
        #expect(FileName.of(label: label) == name)
    }

    @Test(
        "a long name is cut between two characters and keeps its extension", arguments: ["x", "ä", "日", "👨‍👩‍👧"])
    func long(_ character: String) {
        for count in [1, 17, 60, 254, 255, 256, 300, 1_024] {
            let stem = String(repeating: character, count: count)
            let name = FileName.of(label: stem + ".tar")
            #expect(name.utf8.count <= 255)
            #expect(name.hasSuffix(".tar"))
            let other = FileName.numbered(name, 12)
            #expect(other.utf8.count <= 255)
            #expect(other.hasSuffix("~12.tar"))
        }
        #expect(FileName.of(label: "a." + String(repeating: "e", count: 400)).utf8.count <= 255)
    }

    @Test(
        "every label gives one visible component that fits, and whose own name is the same [resource.label]")
    func hostile() {
        var chance = SystemRandomNumberGenerator()
        let scalars: [Unicode.Scalar] = [
            "/", ".", "\\", "\0", "\n", "-", "~", " ", "a", "\u{301}", "\u{20e3}", "\u{3164}", "\u{a0}",
            "\u{202e}", "\u{200d}", "日",
            "\u{1f468}",
        ]
        for _ in 0..<2_000 {
            var label = ""
            for _ in 0..<Int.random(in: 0...300, using: &chance) {
                label.unicodeScalars.append(scalars.randomElement(using: &chance) ?? "a")
            }
            for name in [FileName.of(label: label), FileName.numbered(FileName.of(label: label), 3)] {
                #expect((1...255).contains(name.utf8.count))
                #expect(
                    !name.hasPrefix(".") && !name.hasPrefix("-") && !name.utf8.contains(UInt8(ascii: "/")))
                #expect(name.unicodeScalars.first != ".")
                #expect(name == name.printable)
                #expect(FileName.of(label: name) == name, "\(label.debugDescription)")
            }
        }
    }

    @Test("a number is inserted before the extension")
    func numbers() {
        #expect(FileName.numbered("a.txt", 1) == "a~1.txt")
        #expect(FileName.numbered("a", 10) == "a~10")
        #expect(FileName.numbered("_bashrc", 2) == "_bashrc~2")
    }
}
