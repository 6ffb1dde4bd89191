import MultipeerCLI
import MultipeerTransport
import TestSupport
import Testing

@Suite("Command: paths in a directory that is sent", .computing)
struct RelativePathTests {
    @Test(
        "a path of names is taken as it is [resource.label]",
        arguments: [
            "album/photo.jpg", "a/b/c/d", "album/.hidden", "album/.git/config", "album/-rf", "album/~root",
            "a/b c",
            "album/änn 日本 👋.txt", "album/👨‍👩‍👧.png", "a/...x", "a/..x", "a\\b/c\\..\\d", "a/$(reboot)", "a/*",
            "a/C:", "a/CON",
        ])
    func plain(_ text: String) throws {
        let path = try RelativePath(text)
        #expect(path.text == text)
        #expect(path.components.joined(separator: "/") == text)
    }

    private static let long = String(repeating: "n", count: 256)
    private static let deep = (0...64).map { _ in "d" }.joined(separator: "/")
    private static let tooLong = (0..<5).map { _ in String(repeating: "p", count: 200) }.joined(
        separator: "/")

    @Test(
        "a path that leads elsewhere, or that cannot be shown, is refused with the reason [resource.label]",
        arguments: [
            ("", .empty), ("/", .absolute), ("//", .absolute), ("/etc/passwd", .absolute),
            ("/album/x", .absolute),
            ("..", .dots), (".", .dots), ("../x", .dots), ("./x", .dots), ("a/..", .dots), ("a/.", .dots),
            ("a/../x", .dots), ("a/./x", .dots), ("a/../../x", .dots), ("a/b/../../../x", .dots),
            ("a/..//x", .dots), ("../../../../etc/cron.d/x", .dots), ("a/../.ssh/authorized_keys", .dots),
            ("a//b", .emptyName), ("a/", .emptyName), ("a//", .emptyName), ("a///b", .emptyName),
            ("a/b/", .emptyName), ("a\u{0}b/c", .control), ("a/b\u{0}", .control), ("a/\u{0}", .control),
            ("a/..\u{0}/x", .control), ("a/b\nc", .control), ("a\nb/c", .control), ("a/b\r", .control),
            ("a/\u{1b}[2J", .control), ("a/b\u{7f}", .control), ("a/\u{85}x", .control),
            ("a/\u{9b}x", .control),
            ("a/b\tc", .control), ("a/\u{202e}gpj.exe", .control), ("a/\u{2066}x", .control),
            ("a/\u{200f}x", .control), ("a/\u{61c}x", .control), ("a/b\u{2028}c", .control),
            ("a/b\u{2029}c", .control), ("a/\u{fffd}", .control), ("a/\u{ffff}x", .control),
            ("a/...", .ending), ("a/x.", .ending), ("a./x", .ending),
            ("a /x", .ending),
            ("a/x ", .ending), ("a/ ", .ending), (" /x", .ending), ("a/.. ", .ending), ("a/.. /x", .ending),
            ("a/. ", .ending), (". /x", .ending), ("a/" + long, .longName), (long + "/a", .longName),
            ("a/x.0123456789abcdef.multipeer-part", .reserved),
            ("multipeer-aaaaaaaa-bbbbbbbb.part/x", .reserved),
            (deep, .deep), (tooLong, .long), (String(repeating: "/", count: 961), .absolute),
            (String(repeating: "a/", count: 481), .long), (String(repeating: "a/", count: 100), .deep),
        ] as [(String, RelativePath.Fault)])
    func hostile(_ text: String, _ fault: RelativePath.Fault) {
        #expect(throws: fault) { try RelativePath(text) }
        #expect(!"\(fault)".isEmpty)
    }

    @Test("the limits are inclusive")
    func limits() throws {
        let name = String(repeating: "n", count: 255)
        #expect(try RelativePath(name).name == name)
        #expect(try RelativePath((0..<64).map { _ in "d" }.joined(separator: "/")).components.count == 64)
        let longest = (0..<4).map { _ in String(repeating: "p", count: 239) }.joined(separator: "/") + "q"
        #expect(longest.utf8.count == 960)
        #expect(try RelativePath(longest).text == longest)
    }
}

@Suite("Command: what the metadata of a file says", .computing)
struct SentFileDetailsTests {
    @Test("what a sender writes is read again, and fits")
    func roundTrip() throws {
        let name = String(repeating: "n", count: 239)
        let longest = try RelativePath([name, name, name, name + "m"].joined(separator: "/"))
        for details in [
            SentFileDetails(FilePosition(1, of: 1)),
            SentFileDetails(
                FilePosition(3, of: 12), kind: .program, modified: FileTime(seconds: 5, nanoseconds: 7)),
            SentFileDetails(
                FilePosition(1, of: 2), modified: FileTime(seconds: -3), path: try RelativePath("a/b c.txt")),
            SentFileDetails(
                FilePosition(100_000, of: 100_000), kind: .directory,
                modified: FileTime(seconds: .min, nanoseconds: 999_999_999), path: longest),
        ] {
            #expect(try SentFileDetails(metadata: details.metadata) == details)
            #expect(details.metadata.count <= 1_024)
        }
        let program = SentFileDetails(
            FilePosition(3, of: 10), kind: .program,
            modified: FileTime(seconds: 1_764_179_207, nanoseconds: 5),
            path: try RelativePath("a/b"))
        #expect(program.metadata == Array("3/10 x 1764179207.000000005\na/b".utf8))
    }

    @Test(
        "metadata of any other form is not of this command",
        arguments: [
            "", "x", "1/1 ", "1/1 -", "1/1 - ", "1/1 - 1", "1/1 - 1.5", "1/1 - 1.0000000000",
            "1/1 - .000000000",
            "1/1 - +1.000000000", "1/1 - --1.000000000", "1/1 s 1.000000000", "1/1 xx 1.000000000",
            "1/1 x 1.000000000 ", "1/1  x 1.000000000", "1/1\na/b", "1/1 d 1.000000000",
            "2/1 - 1.000000000\na",
            "1/1 - 99999999999999999999.000000000", "1/1 - 1.00000000a\na", "0/1 - 1.000000000\n../x",
        ])
    func foreign(_ text: String) throws {
        #expect(try SentFileDetails(metadata: Array(text.utf8)) == nil)
    }

    @Test("a bad path in metadata of this form is an error, and not a file without a path")
    func badPath() throws {
        for path in ["", "/x", "..", "a/../b", "a\nb", "a/"] {
            #expect(throws: RelativePath.Fault.self) {
                try SentFileDetails(metadata: Array("1/1 - 1.000000000\n\(path)".utf8))
            }
        }
        #expect(try SentFileDetails(metadata: nil) == nil)
        #expect(try SentFileDetails(metadata: Array("1/1 - 1.000000000\n".utf8) + [0xff]) == nil)
        #expect(try SentFileDetails(metadata: [UInt8](repeating: 49, count: 1_025)) == nil)
    }
}
