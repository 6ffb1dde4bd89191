import Foundation
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: sources of a transfer", .computing)
struct TransferSourceTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test("a file is named after the last component of its path, unless it gets a label")
    func files() throws {
        let path = try folder.write("x", to: "a b.txt")
        #expect(try TransferSource(path).label == "a b.txt")
        #expect(try TransferSource(path).origin == .file(path))
        #expect(try TransferSource(path, as: "other").label == "other")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: path)
        #expect(try TransferSource(folder.path("link")).label == "link")
    }

    @Test(
        "a URL is named after the end of its path, or its host",
        arguments: [
            ("https://example.com/a/b%20c.iso?x=1#y", "b c.iso"), ("http://example.com", "example.com"),
            ("http://example.com/", "example.com"), ("HTTPS://example.com/x/", "x"),
            ("http://[::1]:8080/f", "f"),
        ])
    func web(_ word: String, _ label: String) throws {
        let source = try TransferSource(word)
        #expect(source.label == label)
        guard case .web = source.origin else {
            Issue.record("not of the web")
            return
        }
    }

    @Test("a hyphen means standard input")
    func input() throws {
        #expect(try TransferSource("-").origin == .input)
        #expect(try TransferSource("-").label == "input")
        #expect(try TransferSource("-", as: "x.tar").label == "x.tar")
    }

    @Test("sources that cannot be sent are refused before anything else, with the reason")
    func refused() throws {
        #expect(throws: CommandError("cannot send /: it is a directory, not a file", exit: .system)) {
            try TransferSource("/")
        }
        #expect(throws: CommandError("cannot send /dev/zero: it is a device, not a file", exit: .system)) {
            try TransferSource("/dev/zero")
        }
        let pipe = folder.path("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(try TransferSource(pipe).origin == .pipe(pipe))
        let missing = folder.path("missing")
        #expect(throws: CommandError("cannot send \(missing): no such file or directory", exit: .system)) {
            try TransferSource(missing)
        }
        #expect(throws: CommandError.self) { try TransferSource("http://") }
        #expect(throws: CommandError.self) {
            try TransferSource("-", as: String(repeating: "x", count: 1_025))
        }
    }

    @Test("the position among the files survives a round trip, and foreign metadata has none")
    func places() {
        for place in [
            FilePosition(1, of: 1), FilePosition(3, of: 12),
            FilePosition(FilePosition.most, of: FilePosition.most),
        ] {
            #expect(FilePosition(metadata: place.metadata) == place)
        }
        for text in ["", "1", "/", "1/", "/1", "0/1", "2/1", "+1/2", "1/2/3", "1/100001", "a/b", "1 /2"] {
            #expect(FilePosition(metadata: Array(text.utf8)) == nil, "\(text)")
        }
        #expect(FilePosition(metadata: nil) == nil)
        #expect(FilePosition(metadata: [UInt8](repeating: 49, count: 1_024)) == nil)
    }
}

@Suite("Command: output about transfers", .computing)
struct TransferReportTests {
    @Test("each file has its line, with size, time, rate and digest")
    func lines() {
        var report = TransferReport(.receiving)
        let digest = [UInt8](repeating: 0xab, count: 32)
        let line = report.add(.init(name: "a\u{1b}.txt", bytes: 3 << 20, time: .seconds(2), digest: digest))
        var whole = TransferReport(.receiving, isVerbose: true)
        let transfer = TransferReport.Transfer(name: "a", bytes: 0, time: .seconds(1), digest: digest)
        #expect(whole.add(transfer).hasSuffix(", sha256 \(String(repeating: "ab", count: 32))"))
        #expect(line == "received a\\u{1b}.txt, 3.0 MiB in 2.0 s, 1.5 MiB/s, sha256 abababab...")
        #expect(report.total(.seconds(2)) == nil)
        #expect(report.isComplete)
        #expect(report.skip("b", "already exists") == "skipped b: already exists")
        #expect(report.fail("c", "cancelled") == "c: cancelled")
        #expect(
            report.total(.seconds(3))
                == "received 1 file, 3.0 MiB in 3.0 s, 1.0 MiB/s; 1 skipped; 1 failed")
        #expect(!report.isComplete)
    }

    @Test("files that were there already are counted, and are no reason for a failure")
    func same() {
        var report = TransferReport(.receiving)
        report.addSame(of: "album")
        #expect(report.directories == ["album: 1 file was there already"])
        report.add(.init(name: "a", bytes: 1, time: .zero, digest: nil), of: "album", at: .seconds(1))
        report.addSame(of: "album")
        report.addSame(of: nil)
        #expect(report.directories == ["received album, 1 file, 1 B in 1.0 s, 1 B/s; 2 were there already"])
        #expect(report.isComplete)
        _ = report.skip("b", "a different file of this name exists", isDifferent: true)
        #expect(
            report.total(.seconds(1))
                == "received 1 file, 1 B in 1.0 s, 1 B/s; 3 were there already; 1 skipped, 1 different")
        #expect(!report.isComplete)
    }

    @Test("directories without files are counted apart from files")
    func directories() {
        var report = TransferReport(.sending)
        for name in ["d", "e"] {
            let transfer = TransferReport.Transfer(
                name: name, bytes: 0, time: .zero, digest: nil, isDirectory: true)
            report.add(transfer, of: "bare", at: .seconds(1))
        }
        #expect(report.directories == ["sent bare, 2 directories, 0 B in 1.0 s, 0 B/s"])
        _ = report.add(.init(name: "a", bytes: 1, time: .zero, digest: nil))
        #expect(report.total(.seconds(1)) == "sent 1 file and 2 directories, 1 B in 1.0 s, 1 B/s")
    }

    @Test("without a digest none is printed, and a transfer that took no time does not crash")
    func bare() {
        var report = TransferReport(.sending)
        let line = report.add(.init(name: "a", bytes: 0, time: .zero, digest: nil))
        #expect(line == "sent a, 0 B in 0.0 ms, 0 B/s")
    }
}
