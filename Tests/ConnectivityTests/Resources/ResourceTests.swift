import ClassicClient
import ClassicClientSwift6
import Foundation
import Glibc
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: resources", .inTurns)
struct ResourceTests {
    @Test(
        "the handler may be any closure, also one that is not Sendable",
        arguments: [5, 6])
    func plainHandlers(_ mode: Int) async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let urls = try (0..<3).map { try folder.file([UInt8]("\($0)".utf8)) }
        let sent = Promise<Int>()
        if mode == 5 {
            let sender = ClassicClient.ResourceSender(session: exchange.ann.session)
            sender.sendAll(urls, to: exchange.bob.peer) { sent.send($0) }
        } else {
            let sender = ClassicClientSwift6.ResourceSender(session: exchange.ann.session)
            sender.sendAll(urls, to: exchange.bob.peer) { sent.send($0) }
        }
        #expect(try await soon { await sent.value(onCancel: { sent.send(0) }) } == 3)
        exchange.end()
    }

    @Test(
        "a file arrives under its own name, and can be moved away while the delegate is called",
        arguments: [0, 1, 300_000])
    func file(_ count: Int) async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        var numbers = Seeded(1)
        let bytes = numbers.bytes(count)
        let threads = Locked<Set<UInt>>([])
        exchange.bob.recorder.onFinish { url, _ in
            threads.withLock { _ = $0.insert(UInt(pthread_self())) }
            guard let url else { return }
            #expect(url.isFileURL && url.lastPathComponent == "picture.jpg")
            folder.keep(url, as: "kept")
        }
        let (progress, outcome) = exchange.send(try folder.file(bytes), "picture.jpg")
        let sending = try #require(progress)
        #expect(try await outcome.value() == nil)
        let receiving = try await exchange.bob.recorder.start("picture.jpg")
        let (url, error) = try await exchange.bob.recorder.finish("picture.jpg")
        #expect(error == nil)
        #expect(try folder.bytes("kept") == bytes)
        // Behind the next call everything of this one is done.
        try await exchange.talk("done")
        #expect(!FileManager.default.fileExists(atPath: try #require(url).deletingLastPathComponent().path))
        for progress in [sending, receiving] {
            #expect(progress.fractionCompleted == 1 && progress.isFinished && !progress.isCancelled)
            #expect(progress.totalUnitCount == Int64(max(count, 1)))
        }
        exchange.end()
    }

    @Test("a file that is not moved away is removed after the delegate's call, with its directory")
    func left() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let mode = Locked<mode_t?>(nil)
        exchange.bob.recorder.onFinish { url, _ in
            var facts = stat()
            if let path = url?.path, unsafe stat(path, &facts) == 0 {
                mode.withLock { [facts] in $0 = facts.st_mode }
            }
        }
        let (_, outcome) = exchange.send(try folder.file([1, 2, 3]), "x")
        #expect(try await outcome.value() == nil)
        let url = try #require(try await exchange.bob.recorder.finish("x").url)
        // Behind the next call everything of this one is done.
        try await exchange.talk("done")
        #expect(mode.withLock { $0 } == S_IFREG | 0o600)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path))
        exchange.end()
    }

    @Test(
        "whatever name the peer gives a file, it is stored in its own directory",
        arguments: [
            ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), ("..", "_."), (".", "_"),
            ("/", "file"),
            ("a\u{0}b", "a_b"), ("\u{1b}[2Jx", "_[2Jx"), ("-rf", "_rf"), ("dir/", "dir"),
            (String(repeating: "ä", count: 512), String(repeating: "ä", count: 127)),
        ])
    func hostile(_ label: String, _ name: String) async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let (_, outcome) = exchange.send(try folder.file([1]), label)
        #expect(try await outcome.value() == nil)
        let url = try #require(try await exchange.bob.recorder.finish(label).url)
        #expect(url.lastPathComponent == name)
        let parent = url.deletingLastPathComponent()
        #expect(parent.lastPathComponent.hasPrefix("multipeer-"))
        #expect(
            parent.deletingLastPathComponent().standardizedFileURL.path
                == FileManager.default.temporaryDirectory.standardizedFileURL.path)
        exchange.end()
    }

    @Test("the file may be removed as soon as the call returns")
    func removed() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let file = try folder.file([UInt8](repeating: 5, count: 2_000_000))
        exchange.bob.recorder.onFinish { url, _ in if let url { folder.keep(url, as: "kept") } }
        let (_, outcome) = exchange.send(file, "x")
        try FileManager.default.removeItem(at: file)
        #expect(try await outcome.value() == nil)
        _ = try await exchange.bob.recorder.finish("x")
        #expect(try folder.bytes("kept").count == 2_000_000)
        exchange.end()
    }

    @Test(
        "a document of the web is fetched and forwarded, with or without a known length",
        arguments: [true, false])
    func web(_ isLengthKnown: Bool) async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        var numbers = Seeded(2)
        let bytes = numbers.bytes(500_000)
        let server = try WebServer { _, write in
            let length = isLengthKnown ? "Content-Length: \(bytes.count)" : "X-Length: unknown"
            _ = write(WebServer.head("200 OK", length)) && write(bytes)
        }
        exchange.bob.recorder.onFinish { url, _ in if let url { folder.keep(url, as: "kept") } }
        let (progress, outcome) = exchange.send(try server.url("/page.html"), "page.html")
        let sending = try #require(progress)
        #expect(try await outcome.value() == nil)
        let receiving = try await exchange.bob.recorder.start("page.html")
        #expect(try await exchange.bob.recorder.finish("page.html").error == nil)
        #expect(try folder.bytes("kept") == bytes)
        #expect(sending.fractionCompleted == 1 && receiving.fractionCompleted == 1)
        #expect(sending.totalUnitCount == 500_000 && receiving.completedUnitCount == 500_000)
        exchange.end()
    }

    @Test("what cannot be sent has no progress, and the handler receives the reason, once")
    func refusal() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        let file = try folder.file([1])
        let cases: [(String, String, MCPeerID, MCError.Code)] = [
            ("ftp://127.0.0.1/x", "x", exchange.bob.peer, .unsupported),
            ("data:,x", "x", exchange.bob.peer, .unsupported), ("x", "x", exchange.bob.peer, .unsupported),
            (file.absoluteString, "x", exchange.ann.peer, .notConnected),
            (file.absoluteString, "x", MCPeerID(displayName: "cleo"), .notConnected),
            ("http://127.0.0.1:9/x", "x", MCPeerID(displayName: "cleo"), .notConnected),
            (file.absoluteString, "", exchange.bob.peer, .invalidParameter),
            (file.absoluteString, String(repeating: "x", count: 1_025), exchange.bob.peer, .invalidParameter),
            (file.absoluteString + "-not", "x", exchange.bob.peer, .unknown),
            (folder.url.absoluteString, "x", exchange.bob.peer, .unknown),
            ("file:///dev/null", "x", exchange.bob.peer, .unknown),
        ]
        for (text, name, peer, code) in cases {
            let outcome = Outcome()
            let progress = exchange.ann.session.sendResource(
                at: try #require(URL(string: text)), withName: name, toPeer: peer
            ) { outcome.settle($0) }
            #expect(progress == nil)
            #expect(try await outcome.value()?.code == code, "\(text) \(name)")
        }
        #expect(
            exchange.ann.session.sendResource(at: folder.url, withName: "x", toPeer: exchange.bob.peer) == nil
        )
        exchange.end()
    }

    @Test("a document that cannot be fetched is an error for the sender, and the receiver is not called")
    func brokenWeb() async throws {
        let exchange = try await ConnectedPair()
        let server = try WebServer { _, write in
            _ = write(WebServer.head("404 Not Found", "Content-Length: 0"))
        }
        let (progress, outcome) = exchange.send(try server.url("/x"), "x")
        #expect(progress?.isIndeterminate == true)
        #expect(try await outcome.value()?.code == .unknown)
        #expect(progress?.isFinished == false)
        try await exchange.talk("nothing came")
        #expect(!exchange.bob.recorder.log.all.contains { $0.start("x") != nil })
        exchange.end()
    }

    @Test("a session without a delegate declines resources")
    func declined() async throws {
        let exchange = try await ConnectedPair()
        exchange.bob.session.delegate = nil
        let folder = Folder()
        let (_, outcome) = exchange.send(try folder.endless(), "x")
        #expect(try await outcome.value()?.code == .cancelled)
        let output = try exchange.startStream()
        let writer = RecordingStreamDelegate()
        let fault = Locked<MCError?>(nil)
        writer.onEvent { stream, event in
            guard event == .errorOccurred else { return }
            fault.withLock { $0 = stream.value.streamError as? MCError }
            writer.finish()
        }
        writer.run(output)
        _ = try await writer.wait()
        #expect(fault.withLock { $0?.code } == .cancelled)
        exchange.end()
    }
}
