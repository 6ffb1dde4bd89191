import Foundation
import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Unauthenticated connections for invitations", .inTurns)
struct InvitationUnauthenticatedTests {
    @Test("a client that sends nothing, or stops after TLS, is closed after five seconds [invite.deadline]")
    func silence() async throws {
        try await withHost { host in
            let start = ContinuousClock.now
            let silent = try SecuredPipe(to: host.address)
            let polite = try await host.pipe(try InvitationTLS())
            try await silent.hearEnd()
            #expect(ContinuousClock.now - start > .seconds(4.5))
            let said = try await polite.hear()
            #expect(said == .close(.timeout, reason: ""))
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    static let noises: [String: [UInt8]] = [
        "garbage": (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 77) },
        "HTTP": Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
        "a plain client": Array("MPCPLAIN".utf8) + [0, 0, 8, 6, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
        "an endless record": [0x16, 0x03, 0x01, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 66_000),
        "an alert": [0x15, 0x03, 0x01, 0x00, 0x02, 2, 40],
    ]

    @Test(
        "a connection that is not TLS is closed at once, and an honest invitation succeeds [invite.tls]",
        arguments: noises.keys.sorted())
    func noise(_ name: String) async throws {
        let ann = try PeerID(displayName: "ann")
        try await withHost { host in
            // After five seconds any such connection ends; on a busy machine, a few may take as long.
            try await within { while try await Self.timeToEnd(name, at: host) > .seconds(4) {} }
            host.welcomeEverybody()
            let met = await ann.invite(host)
            let bobs = try host.data(for: ann)
            #expect(met == .success(bobs))
        }
    }

    /// Returns how long a connection with this noise stays.
    private static func timeToEnd(_ name: String, at host: Host) async throws -> Duration {
        let start = ContinuousClock.now
        let pipe = try SecuredPipe(to: host.address)
        try await pipe.sayBelow(Self.noises[name] ?? [])
        try await pipe.hearEnd()
        return ContinuousClock.now - start
    }

    @Test(
        "a port for invitations refuses a session, and a session's port refuses an invitation [invite.tls] [tls.alpn]"
    )
    func protocols() async throws {
        let identity = try Identity.generate()
        try await withHost { host in
            let pipe = try SecuredPipe(to: host.address)
            await #expect(throws: (any Error).self) {
                try await pipe.secure(
                    try SecureChannel.tls(
                        try TLSContext(identity: identity), role: .client,
                        accepting: [CertificatePin(identity.fingerprint, of: identity.uid)]))
                _ = try await pipe.hear()
            }
        }
        let session = try Session(peer: try PeerID(displayName: "bob"), configuration: .loopback(.required))
        let data = try await session.connectionData()
        let address = try #require(data.candidates.first.flatMap { SocketAddress($0) })
        let ann = try PeerID(displayName: "ann")
        let outcome = await ann.invite(session.peer, at: [address], within: .seconds(20))
        guard case .failure(.unreachable(let text)) = outcome else {
            Issue.record("a session took an invitation")
            return
        }
        #expect(text.contains("no application protocol"), "\(text)")
        await session.disconnect()
    }

    @Test("frames that are not allowed end the connection with PROTOCOL [invite.order]")
    func disorder() async throws {
        let ann = try PeerID(displayName: "ann")
        try await withHost { host in
            let tls = try InvitationTLS()
            let wrong: [[Frame]] = [
                [.ping(1)], [.select], [.answer(Answer(id: [UInt8](repeating: 3, count: 16), code: .ok))],
                [.complete(Complete(id: [UInt8](repeating: 3, count: 16), connectionData: [1]))],
                [.invite(ann.invitation(to: host.peer)), .invite(ann.invitation(to: host.peer))],
                [.invite(ann.invitation(to: host.peer, timeout: 601))],
            ]
            for frames in wrong {
                let pipe = try await host.pipe(tls)
                try await pipe.say(frames)
                let said = try await pipe.hear()
                #expect(said == .close(.protocolError, reason: ""), "\(frames)")
                try await pipe.hearEnd()
            }
            #expect(host.listener.questions.count == 0)
        }
    }

    @Test("ignorable frames are ignored, but only up to a limit [frame.ignorable]")
    func flood() async throws {
        try await withHost { host in
            let pipe = try await host.pipe(try InvitationTLS())
            let idle = Frame.ignorable(FrameKind(rawValue: 0x9A), channel: 0, [1, 2, 3])
            try await pipe.say([Frame](repeating: idle, count: 64))
            try await pipe.say([Frame](repeating: idle, count: 64))
            let said = try await pipe.hear()
            #expect(said == .close(.flood, reason: ""))
        }
    }

    @Test("fifty invitations, an unauthenticated connection and an unanswered question leak no descriptor")
    func descriptors() async throws {
        let ann = try PeerID(displayName: "ann")
        var open: Set<Substring> = []
        try await withHost { host in
            let pipe = try await host.pipe(try InvitationTLS())
            try await pipe.say(.invite(try PeerID(displayName: "carol").invitation(to: host.peer)))
            _ = try await host.question()
            host.welcomeEverybody()
            for _ in 0..<50 {
                guard case .success = await ann.invite(host) else {
                    Issue.record("an invitation failed")
                    return
                }
            }
            open = try Self.sockets(at: host.address.port)
            #expect(open.count >= 3, "the listener, the stranger and the host's end of that")
            await host.listener.stop()
            try await pipe.hearEnd()
        }
        // Without those that exist by then: another process may have the port.
        try await within { [open] in
            while try !Self.sockets().isDisjoint(with: open) { try await Task.sleep(for: .milliseconds(50)) }
        }
    }

    /// Returns the open TCP sockets with the port at either end, by their inode numbers; all of them without a port.
    private static func sockets(at port: UInt16? = nil) throws -> Set<Substring> {
        // A `String` treats the first piece that the system returns as the whole.
        let files = ["tcp", "tcp6"].map { "/proc/self/net/\($0)" }
        let table = try files.filter(FileManager.default.fileExists(atPath:)).map { path in
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        }.joined()
        let ending = port.map(ending)
        let numbers = table.split(separator: "\n").compactMap { line -> Substring? in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[9].allSatisfy(\.isNumber), fields[9] != "0" else { return nil }
            guard let ending else { return fields[9] }
            return fields[1].hasSuffix(ending) || fields[2].hasSuffix(ending) ? fields[9] : nil
        }
        return Set(numbers)
    }

    private static func ending(_ port: UInt16) -> String {
        let digits = String(port, radix: 16, uppercase: true)
        return ":" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
