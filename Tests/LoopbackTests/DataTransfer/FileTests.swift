import Foundation
import Glibc
import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import MultipeerWeb
import TestSupport
import Testing

@Suite("9.4 Files over loopback", .inTurns)
struct FileTests {
    @Test(
        "a file arrives whole, and the sender is notified once it is closed [resource.done] [resource.size]",
        arguments: [0, 1, 16_376, 16_377, FileSource.piece + 1, 5_000_000], [true, false])
    func whole(_ count: Int, _ digest: Bool) async throws {
        let files = try await FileMeeting()
        var seed = Seeded(UInt64(count))
        let bytes = seed.bytes(count)
        let sending = try await files.ann.send(
            file: try files.file(bytes, "picture.jpg"), to: files.bob.peer, metadata: [7], digest: digest)
        let resource = try await files.offered()
        #expect(resource.name == "picture.jpg" && resource.metadata == [7] && resource.size == UInt64(count))
        #expect(resource.peer == files.ann.peer && sending.peer == files.bob.peer)
        let watching = Task { await progress(of: sending.progress) }
        let file = try await files.receive(resource).get()
        #expect(try await sending.end() == nil)
        #expect(try Data(contentsOf: file.url) == Data(bytes))
        #expect(file.size == UInt64(count) && file.isVerified == digest && file.name == "picture.jpg")
        #expect((file.digest != nil) == digest)
        var status = stat()
        unsafe lstat(file.path, &status)
        #expect(status.st_mode == S_IFREG | 0o600)
        for seen in [await watching.value, await progress(of: resource.progress)] {
            #expect(seen.last?.fractionCompleted == 1)
            #expect(seen.last?.completedBytes == UInt64(count))
            #expect(seen.dropLast().allSatisfy { $0.fractionCompleted.map { $0 < 1 } == true })
        }
        try await files.expectLife(1)
        await files.end()
    }

    @Test("a file gets the name that its receiver chooses, in a directory of its own [resource.label]")
    func named() async throws {
        let files = try await FileMeeting()
        let original = try files.file([1, 2])
        let sending = try await files.ann.send(file: original, to: files.bob.peer, name: "../x")
        let resource = try await files.offered()
        var folder: ResourceFolder? = ResourceFolder(in: files.bobs.url.path)
        let file = try await resource.receive(into: try #require(folder), as: "chosen")
        try await within { try await sending.waitUntilReceived() }
        #expect(file.url.lastPathComponent == "chosen" && file.name == "../x")
        #expect(file.url.deletingLastPathComponent().deletingLastPathComponent().path == files.bobs.url.path)
        try FileManager.default.removeItem(at: file.url)
        folder = nil
        #expect(files.bobs.names.isEmpty)
        await files.end()
    }

    @Test(
        "a name that begins with a mark stays in the directory, which a slash before it does not become [resource.label]",
        arguments: ["\u{301}x", "\u{20e3}x", "a/\u{301}", "\u{200d}x"])
    func marked(_ name: String) async throws {
        let files = try await FileMeeting()
        let inbox = files.bobs.url.appendingPathComponent("inbox")
        try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: false)
        for isResumable in [false, true] {
            let bytes = [UInt8](repeating: 7, count: 1 << 20)
            let sending = try await files.ann.send(
                file: try files.file(bytes), to: files.bob.peer, name: name)
            let resource = try await files.offered()
            let file = try await resource.receive(
                intoDirectoryAt: inbox.path, resuming: isResumable ? .standard : nil)
            #expect(try await sending.end() == nil)
            #expect(file.path.utf8.starts(with: "\(inbox.path)/".utf8))
            #expect(files.bobs.names == ["inbox"])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.path).count == 2)
        await files.end()
    }

    @Test("the sender is notified once the file has its name, on disk if required [resource.digest]")
    func finalName() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.file([1, 2]), to: files.bob.peer)
        let resource = try await files.offered()
        let path = files.bobs.url.appendingPathComponent("chosen")
        let file = try await resource.receive(as: path, synchronizing: true)
        #expect(try await sending.end() == nil)
        #expect(file.path == path.path && files.bobs.names == ["chosen"])
        await files.end()
    }

    @Test("paths name files and directories as URLs do")
    func paths() async throws {
        let files = try await FileMeeting()
        let original = try files.file([1, 2], "a b.txt").path
        let folder = files.bobs.url.path
        for (place, isSynchronized) in [("\(folder)/chosen", false), ("\(folder)//other", true)] {
            let sending = try await files.ann.send(fileAt: original, to: files.bob.peer)
            let resource = try await files.offered()
            #expect(resource.name == "a b.txt")
            let file = try await resource.receive(asFileAt: place, synchronizing: isSynchronized)
            #expect(try await sending.end() == nil)
            #expect(file.path == place)
        }
        let sending = try await files.ann.send(fileAt: original, to: files.bob.peer, name: "x")
        let file = try await files.offered().receive(intoDirectoryAt: folder)
        #expect(try await sending.end() == nil)
        #expect(file.name == "x" && file.path.hasPrefix(folder))
        #expect(files.bobs.names.count == 3)
        await #expect(throws: MultipeerError.self) {
            try await files.ann.send(fileAt: "no such/file", to: files.bob.peer)
        }
        await #expect(throws: MultipeerError.self) {
            try await files.ann.send(fileAt: "/", to: files.bob.peer)
        }
        await files.end()
    }

    @Test("a file that cannot get its name is reported to the sender as not received, and nothing is kept")
    func noFinalName() async throws {
        let files = try await FileMeeting()
        let (taken, directory) = (
            files.bobs.url.appendingPathComponent("taken"), files.bobs.url.appendingPathComponent("folder")
        )
        try Data([9]).write(to: taken)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        for (path, isReplacing) in [(taken, false), (directory, true)] {
            let sending = try await files.ann.send(file: try files.file([1, 2]), to: files.bob.peer)
            let resource = try await files.offered()
            await #expect(throws: MultipeerError.self) {
                try await resource.receive(as: path, replacing: isReplacing)
            }
            #expect(try await sending.end()?.code == .aborted)
            #expect(files.bobs.names.sorted() == ["folder", "taken"])
        }
        // A directory without room for the new name.
        let sending = try await files.ann.send(file: try files.file([1, 2]), to: files.bob.peer)
        let resource = try await files.offered()
        let full = IncomingResource.Completion { path throws(FileFault) in
            throw FileFault(.noSpace, path: path)
        }
        await #expect(throws: MultipeerError.self) {
            try await resource.receive(into: files.bobs.url, completing: full)
        }
        #expect(try await sending.end()?.code == .noSpace)
        #expect(try Data(contentsOf: taken) == Data([9]))
        try await files.expectLife(2)
        await files.end()
    }

    @Test(
        "files are stored in the session's own directory, which is removed when it is empty [resource.private]"
    )
    func ownDirectory() async throws {
        var files: FileMeeting? = try await FileMeeting()
        var folder = ""
        if let files {
            let sending = try await files.ann.send(file: try files.file([1, 2]), to: files.bob.peer)
            let file = try await files.offered().receive()
            try await within { try await sending.waitUntilReceived() }
            folder = file.url.deletingLastPathComponent().path
            var status = stat()
            unsafe lstat(folder, &status)
            #expect(status.st_mode == S_IFDIR | 0o700)
            try FileManager.default.removeItem(at: file.url)
            await files.end()
        }
        files = nil
        try await within { [folder] in
            while unsafe access(folder, F_OK) == 0 { await Task.yield() }
        }
    }

    @Test(
        "a name is a label and never a path, whatever it holds [resource.label]",
        arguments: [
            "../../x", "/etc/passwd", "a\0b", "..", "\u{1B}[2J", String(repeating: "n", count: 1_024),
        ])
    func label(_ name: String) async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.file([5]), to: files.bob.peer, name: name)
        let resource = try await files.offered()
        #expect(resource.name == name)
        let file = try await files.receive(resource).get()
        #expect(file.name == name)
        #expect(file.url.deletingLastPathComponent().path == files.bobs.url.path)
        #expect(files.bobs.names == [file.url.lastPathComponent])
        #expect(try await sending.end() == nil)
        await files.end()
    }

    @Test("a small file waits for its turn at the peer; a task that is cancelled while waiting gives it up")
    func turn() async throws {
        let files = try await FileMeeting()
        let url = try files.file([1, 2, 3])
        // As many as bob accepts at a time.
        for _ in 0..<64 { _ = try await files.ann.send(file: url, to: files.bob.peer) }
        let cancelled = Task { try await files.ann.send(file: url, to: files.bob.peer, name: "cancelled") }
        let waiting = Task { try await files.ann.send(file: url, to: files.bob.peer, name: "waiting") }
        cancelled.cancel()
        await #expect(throws: MultipeerError(.cancelled, "")) { _ = try await cancelled.value }
        let receiving = Task {
            var names: [String] = []
            for await event in files.bob.events {
                guard case .resource(let resource) = event else { continue }
                names.append(resource.name)
                _ = await files.receive(resource)
                if names.count == 65 { break }
            }
            return names
        }
        let sending = try await within { try await waiting.value }
        #expect(try await sending.end() == nil)
        #expect(try await within { await receiving.value }.last == "waiting")
        await files.end()
    }

    @Test(
        "the default name of a file is the last component of its URL",
        arguments: [
            ("file:///a/b.txt", "b.txt"), ("file:///a/b%20c", "b c"), ("file:///a/b/", "b"), ("file:///", ""),
            ("file:///a%2Fb", nil), ("file:///a/%25", nil), ("file:///%C3%A4", "ä"),
            ("https://host/x?y", "x"), ("https://host", "host"),
        ])
    func label(_ text: String, _ label: String?) throws {
        let url = try #require(URL(string: text))
        #expect(url.label == label ?? url.lastPathComponent)
    }

    @Test("invalid names, metadata and URLs are refused before anything is sent")
    func refused() async throws {
        let files = try await FileMeeting()
        let url = try files.file([1])
        let folder = files.anns.url
        let pipe = folder.appendingPathComponent("pipe")
        unsafe mkfifo(pipe.path, 0o600)
        typealias Case = (url: URL, name: String?, metadata: [UInt8]?, code: MultipeerError.Code)
        let cases: [Case] = [
            (url, "", nil, .invalidArgument),
            (url, String(repeating: "n", count: 1_025), nil, .invalidArgument),
            (url, nil, [UInt8](repeating: 0, count: 1_025), .invalidArgument),
            (try #require(URL(string: "ftp://127.0.0.1/x")), nil, nil, .invalidArgument),
            (try #require(URL(string: "https://127.0.0.1/x")), nil, nil, .invalidArgument),
            (try #require(URL(string: "file://elsewhere/etc/hostname")), nil, nil, .invalidArgument),
            (try #require(URL(string: "noscheme")), "x", nil, .invalidArgument),
            (folder, nil, nil, .file), (pipe, nil, nil, .file),
            (folder.appendingPathComponent("missing"), nil, nil, .file),
            (URL(fileURLWithPath: "/dev/zero"), nil, nil, .file),
        ]
        for (url, name, metadata, code) in cases {
            await #expect(throws: MultipeerError(code, ""), "\(url)") {
                try await files.ann.send(file: url, to: files.bob.peer, name: name, metadata: metadata)
            }
        }
        let stranger = try PeerID(displayName: "carl")
        await #expect(throws: MultipeerError(.notConnected, "")) {
            try await files.ann.send(file: url, to: stranger)
        }
        // The first one that bob receives is this.
        _ = try await files.ann.send(file: url, to: files.bob.peer, name: "first")
        #expect(try await files.offered().name == "first")
        await files.end()
    }

    @Test("a file that shrinks while it is sent fails on both sides, and the link stays [resource.size]")
    func shrinking() async throws {
        let files = try await FileMeeting()
        let url = try files.endless()
        let sending = try await files.ann.send(file: url, to: files.bob.peer)
        let resource = try await files.offered()
        let receiving = Task { await files.receive(resource) }
        await moved(resource, 2_000_000)
        unsafe truncate(url.path, 1)
        #expect(try await sending.end()?.code == .file)
        #expect(try await within { await receiving.value }.code == .damaged)
        try await files.expectLife()
        await files.end()
    }

    @Test("a file that grows while it is sent arrives with its initial length")
    func growing() async throws {
        let files = try await FileMeeting()
        let url = try files.file([1, 2, 3])
        let sending = try await files.ann.send(file: url, to: files.bob.peer)
        let handle = try FileHandle(forWritingTo: url)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([4, 5]))
        let file = try await files.receive(try await files.offered()).get()
        #expect(try Data(contentsOf: file.url) == Data([1, 2, 3]))
        #expect(try await sending.end() == nil)
        await files.end()
    }

    @Test("an unusable directory fails on both sides, and the link stays")
    func directory() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.endless(), to: files.bob.peer)
        let resource = try await files.offered()
        let missing = files.bobs.url.appendingPathComponent("missing")
        #expect(await resource.received(into: missing).code == .file)
        let error = try await sending.end()
        #expect(error?.code == .aborted && error?.closeCode == .internal)
        #expect(await resource.received(into: nil).code == .invalidArgument)
        try await files.expectLife()
        await files.end()
    }

    @Test(
        "a full disk fails on both sides, at once or in the middle, and the link stays [resource.space]",
        .enabled(if: geteuid() == 0, "only root can mount a small file system"), arguments: [true, false])
    func fullDisk(_ isKnown: Bool) async throws {
        let files = try await FileMeeting()
        let small = TestFolder()
        guard ToolProcess.succeeds("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", small.url.path])
        else {
            print("skipped: a small file system cannot be mounted here")
            return await files.end()
        }
        defer { _ = ToolProcess.succeeds("/bin/umount", [small.url.path]) }
        let opening = ChannelOpening(kind: .resource, name: "x", size: isKnown ? 5_000_000 : nil)
        let sender = try await files.ann.driver.open(opening, to: files.bob.peer.uid)
        let writing = Task {
            for _ in 0..<20 { try? await sender.write([UInt8](repeating: 1, count: 250_000)) }
            return await sender.outcome()
        }
        #expect(try await files.offered().received(into: small.url).code == .noSpace)
        #expect(try await within { await writing.value } == .stopped(.noSpace))
        #expect(small.names == [])
        try await files.expectLife()
        await files.end()
    }

    @Test("documents of the web are forwarded, and their failures reported on both sides")
    func web() async throws {
        let files = try await FileMeeting()
        var seed = Seeded(3)
        let body = seed.bytes(3_000_000)
        let server = try WebServer { path, write in
            switch path {
            case "/404": _ = write(WebServer.head("404 Not Found", "Content-Length: 0"))
            case "/short":
                _ = write(WebServer.head("200 OK", "Content-Length: 9000000")) && write(body)
            default: _ = write(WebServer.head("200 OK")) && write(body)
            }
        }
        let sending = try await files.ann.send(
            document: try server.url("/a/b.txt?q=secret"), to: files.bob.peer)
        let resource = try await files.offered()
        #expect(resource.name == "b.txt" && resource.size == nil)
        let file = try await files.receive(resource).get()
        #expect(try Data(contentsOf: file.url) == Data(body))
        #expect(file.isVerified)
        #expect(try await sending.end() == nil)

        let missing = try server.url("/404")
        await #expect(throws: MultipeerError(.fetch, "")) {
            try await files.ann.send(document: missing, to: files.bob.peer)
        }
        let short = try await files.ann.send(document: try server.url("/short"), to: files.bob.peer)
        #expect(await files.receive(try await files.offered()).code != nil)
        #expect(try await short.end()?.code == .fetch)
        for url in [try files.file([1]), try #require(URL(string: "ftp://127.0.0.1/x"))] {
            await #expect(throws: MultipeerError(.invalidArgument, ""), "\(url)") {
                try await files.ann.send(document: url, to: files.bob.peer, name: "x")
            }
        }
        try await files.expectLife(1)
        await files.end()
    }

    @Test("the end of the link ends every transfer on both sides, with its reason, and no file is left")
    func linkEnd() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.endless(), to: files.bob.peer)
        let resource = try await files.offered()
        let receiving = Task { await files.receive(resource) }
        await moved(resource, 1_000_000)
        await files.ann.disconnect(within: .zero)
        #expect(try await sending.end()?.code == .ended)
        let received = try await within { await receiving.value }
        #expect(received.code == .ended)
        #expect(files.bobs.names == [])
        #expect(resource.name == "endless")
        await files.end()
    }

    @Test("releasing the sending end does not end the transfer")
    func letGo() async throws {
        let files = try await FileMeeting()
        _ = try await files.ann.send(file: try files.file([9]), to: files.bob.peer)
        let file = try await files.receive(try await files.offered()).get()
        #expect(try Data(contentsOf: file.url) == Data([9]))
        await files.end()
    }

    private func progress(of updates: TransferProgress.Updates) async -> [TransferProgress] {
        var seen: [TransferProgress] = []
        for await progress in updates { seen.append(progress) }
        return seen
    }
}

/// Waits until that many bytes are done.
func moved(_ resource: IncomingResource, _ count: UInt64) async {
    for await progress in resource.progress where progress.completedBytes >= count { return }
}
