import Foundation
import Multipeer
import MultipeerTransport
import MultipeerFetch
import MultipeerWeb
import TestSupport
import Testing

/// One after the other: `URLSession` has one queue for everything, and a server that is as fast as it can holds up the
/// answers of the others under ThreadSanitizer.
@Suite("9.4 Documents of the web", .serialized, .inTurns)
struct WebSourceTests {
    @Test("a document arrives whole, with or without a length, including an empty one")
    func whole() async throws {
        var seed = Seeded(1)
        let body = seed.bytes(1_000_000)
        let server = try WebServer { path, write in
            switch path {
            case "/length":
                _ = write(WebServer.head("200 OK", "Content-Length: \(body.count)")) && write(body)
            case "/empty": _ = write(WebServer.head("200 OK", "Content-Length: 0"))
            case "/none": _ = write(WebServer.head("200 OK")) && write(body)
            default:
                _ = write(WebServer.head("200 OK", "Transfer-Encoding: chunked"))
                for start in stride(from: 0, to: body.count, by: 50_000) {
                    _ = write(Array("C350\r\n".utf8) + body[start..<(start + 50_000)] + Array("\r\n".utf8))
                }
                _ = write(Array("0\r\n\r\n".utf8))
            }
        }
        for (path, size) in [("/length", 1_000_000), ("/none", nil), ("/chunked", nil), ("/empty", 0)]
            as [(String, UInt64?)]
        {
            let source = try await WebSource.open(try server.url(path))
            #expect(source.size == size)
            #expect(try await bytes(of: source) == (path == "/empty" ? [] : body), "\(path)")
        }
    }

    @Test("an error response fails with its status, before anything is sent")
    func status() async throws {
        let server = try WebServer { path, write in
            _ = write(WebServer.head("\(path.dropFirst()) Words", "Content-Length: 3")) && write([1, 2, 3])
        }
        for status in ["404", "500", "206", "304", "401"] {
            let url = try server.url("/\(status)")
            await #expect(throws: ResourceFault.fetch("\(url) answered with status \(status)")) {
                try await WebSource.open(url)
            }
        }
    }

    @Test("redirections are followed to http and https only, and only a few times")
    func redirections() async throws {
        let server = try WebServer { path, write in
            let target =
                switch path {
                case "/start": "/next"
                case "/next": "end?x=y"
                case "/end?x=y": ""
                case "/file": "file:///etc/hostname"
                case "/ftp": "ftp://127.0.0.1/x"
                default: "/loop"
                }
            if target.isEmpty {
                _ = write(WebServer.head("200 OK", "Content-Length: 2")) && write([7, 8])
            } else {
                _ = write(WebServer.head("302 Found", "Location: \(target)", "Content-Length: 0"))
            }
        }
        #expect(try await bytes(of: try await WebSource.open(try server.url("/start"))) == [7, 8])
        for path in ["/file", "/ftp", "/loop"] {
            let fault = await fault { try await WebSource.open(try server.url(path)) }
            guard case .fetch(let complaint) = fault else {
                Issue.record(Comment(rawValue: "\(path): \(String(describing: fault))"))
                continue
            }
            #expect(complaint.contains("redirects"), "\(complaint)")
        }
    }

    @Test("the scope of an address is known in each of its forms")
    func scopes() {
        let known: [(AddressScope, [String])] = [
            (
                .global,
                ["192.0.2.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:db8::1", "2002:808:808::"]
            ),
            (.local, ["10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "100.127.9.9", "fc00::1"]),
            (.local, ["::ffff:10.1.2.3", "64:ff9b::192.168.0.1", "2002:0a00:0001::", "fec0::1"]),
            (.local, ["fdff::1", "198.18.0.1"]),
            (.linkLocal, ["169.254.169.254", "fe80::1", "febf::1", "::ffff:169.254.0.1"]),
            (.loopback, ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1"]),
            (.loopback, ["::127.0.0.1"]),
            (.unusable, ["0.0.0.0", "0.1.2.3", "224.0.0.251", "255.255.255.255", "::", "ff02::fb"]),
        ]
        for (scope, texts) in known {
            for text in texts { #expect(WebResolver.Address(text)?.scope == scope, "\(text)") }
        }
        let all: [AddressScope] = [.global, .local, .linkLocal, .loopback, .unusable]
        for one in all {
            for other in all {
                let isAllowed = other == .global || (one == other && one != .unusable)
                #expect(other.isReachable(from: [one]) == isAllowed, "\(one) \(other)")
            }
            #expect(one.isReachable(from: [.global, .loopback]) == (one == .global))
        }
    }

    @Test(
        "a redirection from elsewhere does not lead to this machine or its network, whatever the host's name")
    func inward() async throws {
        let asked = Locked<[String]>([])
        let server = try WebServer { path, write in
            asked.withLock { $0.append(path) }
            let port = path.split(separator: "/").last.map(String.init) ?? ""
            let target =
                switch path.split(separator: "/").first {
                case "name": "http://secret.test:\(port)/secret"
                case "literal": "http://127.0.0.1.secret.test:\(port)/secret"
                case "near": "http://near.test:\(port)/end"
                default: ""
                }
            if target.isEmpty {
                _ = write(WebServer.head("200 OK", "Content-Length: 2")) && write([7, 8])
            } else {
                _ = write(WebServer.head("302 Found", "Location: \(target)", "Content-Length: 0"))
            }
        }
        let (loopback, elsewhere) = (
            try #require(WebResolver.Address("127.0.0.1")), try #require(WebResolver.Address("192.0.2.1"))
        )
        // The server counts as one of the internet.
        let resolver = WebResolver { host in
            switch host {
            case "127.0.0.1": [elsewhere]
            case "secret.test": [elsewhere, loopback]
            default: host.hasSuffix("test") ? [loopback] : []
            }
        }
        for path in ["name", "literal", "near"] {
            let fault = await fault {
                try await WebSource.open(try server.url("/\(path)/\(server.port)"), resolver: resolver)
            }
            guard case .fetch(let complaint) = fault else {
                Issue.record(Comment(rawValue: "\(path): \(String(describing: fault))"))
                continue
            }
            #expect(complaint.contains("an address that is not public"), "\(complaint)")
        }
        #expect(asked.withLock { $0 }.count == 3)
        // A server on this machine may redirect to it. The request goes to the address that was checked: no other resolver knows
        // the name.
        let near = WebResolver { _ in [loopback] }
        let source = try await WebSource.open(try server.url("/near/\(server.port)"), resolver: near)
        #expect(source.address == "http://near.test:\(server.port)/end")
        #expect(try await bytes(of: source) == [7, 8])
        let unknown = WebResolver { $0 == "127.0.0.1" ? [loopback] : [] }
        let lost = await fault {
            try await WebSource.open(try server.url("/near/\(server.port)"), resolver: unknown)
        }
        guard case .fetch(let complaint) = lost else {
            Issue.record(Comment(rawValue: String(describing: lost)))
            return
        }
        #expect(complaint.hasSuffix("redirects to http://near.test:\(server.port)/end: no such host"))
    }

    @Test("a document that ends too early is an error, never a short file")
    func short() async throws {
        let server = try WebServer { path, write in
            if path == "/length" {
                _ = write(WebServer.head("200 OK", "Content-Length: 1000")) && write([1, 2, 3])
            } else {
                _ =
                    write(WebServer.head("200 OK", "Transfer-Encoding: chunked"))
                    && write(Array("5\r\nabc".utf8))
            }
        }
        for path in ["/length", "/chunked"] {
            let source = try await WebSource.open(try server.url(path))
            let fault = await fault { _ = try await bytes(of: source) }
            guard case .fetch = fault else {
                Issue.record(Comment(rawValue: "\(path): \(String(describing: fault))"))
                continue
            }
        }
    }

    @Test("a closed port and a server that sends nothing fail in time")
    func silence() async throws {
        let server = try WebServer { path, write in
            if path == "/later" { _ = write(WebServer.head("200 OK", "Content-Length: 9")) && write([1]) }
            Thread.sleep(forTimeInterval: 30)
        }
        for path in ["/", "/later"] {
            let fault = await fault {
                let source = try await WebSource.open(try server.url(path), timeLimit: .milliseconds(300))
                _ = try await bytes(of: source)
            }
            guard case .fetch(let complaint) = fault else {
                Issue.record(Comment(rawValue: "\(path): \(String(describing: fault))"))
                continue
            }
            #expect(complaint.contains("no response for"), "\(complaint)")
        }
        // A port that is not listening any more.
        let gone = try WebServer { _, _ in }.url("/")
        let fault = await fault { try await WebSource.open(gone) }
        guard case .fetch = fault else {
            Issue.record(Comment(rawValue: String(describing: fault)))
            return
        }
    }

    @Test("cancelling the task stops the download, and so does releasing the source")
    func cancellation() async throws {
        let ended = Promise<Void>()
        let server = try WebServer { path, write in
            _ = write(WebServer.head("200 OK"))
            while write([UInt8](repeating: 1, count: 65_536)) {}
            ended.send(())
        }
        do {
            let source = try await WebSource.open(try server.url("/"))
            #expect(try await source.next()?.isEmpty == false)
        }
        await ended.value()

        let silent = try WebServer { _, write in
            _ = write(WebServer.head("200 OK"))
            Thread.sleep(forTimeInterval: 30)
        }
        let source = try await WebSource.open(try silent.url("/"))
        let waiting = Task { await fault { _ = try await source.next() } }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
    }

    @Test("memory is bounded, however fast the server and slow the reader, and everything arrives in order")
    func memory() async {
        // In a process of its own, where no other test takes memory.
        await #expect(processExitsWith: .success) { try await WebSourceTests.takeSlowly() }
    }

    private static let wave = 65_536

    private static func digits(of number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func bytes(of number: Int) -> [UInt8] {
        digits(of: number) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: wave - 8)
    }

    private static func takeSlowly() async throws {
        let size = 256 * 1_048_576
        let written = Promise<Void>()
        let server = try WebServer { _, write in
            _ = write(WebServer.head("200 OK", "Content-Length: \(size)"))
            for number in 0..<(size / wave) where !write(Self.bytes(of: number)) { return }
            written.send(())
        }
        let source = try await WebSource.open(try server.url("/"))
        let before = try residentBytes()
        var taken = 0
        var most = 0
        while let piece = try await source.next() {
            // Waves whose number is whole in this piece.
            for start in stride(from: (wave - taken % wave) % wave, to: piece.count - 7, by: wave) {
                try #require(Array(piece[start..<(start + 8)]) == Self.digits(of: (taken + start) / wave))
            }
            taken += piece.count
            // A taker that takes its time from the beginning: the server is done while nearly everything waits.
            if taken == piece.count { await written.value() }
            most = max(most, try residentBytes())
        }
        #expect(taken == size)
        #expect(most - before < 48 * 1_048_576 || Sanitizer.isOn, "\((most - before) / 1_048_576) MiB")
    }

    private func bytes(of source: any PieceSource) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await source.next() { bytes += piece }
        return bytes
    }

    private func fault<Value>(_ body: () async throws -> Value) async -> ResourceFault? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? ResourceFault
        }
    }
}
