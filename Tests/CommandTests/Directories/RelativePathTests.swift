import MultipeerCLI
import MultipeerCommandLine
import MultipeerCore
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
        #expect(path.components.map(\.text).joined(separator: "/") == text)
    }

    @Test(
        "a path that leads elsewhere, or that cannot be shown, is refused with the reason [resource.label]",
        arguments: HostilePaths.all)
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
