import Foundation
import Multipeer
import MultipeerTransport
import TestSupport
import Testing

@Suite("5 Foreign clients", .inTurns)
struct ForeignClientTests {
    struct Habit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let arguments: [String]
        let showsCertificate: Bool
        /// The number of the alert that it must get.
        let alert: Int
    }

    static let habits = [
        Habit(
            testDescription: "TLS 1.2", arguments: ["-tls1_2", "-alpn", "mpc/1"], showsCertificate: true,
            alert: 70),
        Habit(testDescription: "no ALPN", arguments: ["-tls1_3"], showsCertificate: true, alert: 120),
        Habit(
            testDescription: "another ALPN", arguments: ["-tls1_3", "-alpn", "h2,mpc/2"],
            showsCertificate: true,
            alert: 120),
        Habit(
            testDescription: "no certificate", arguments: ["-tls1_3", "-alpn", "mpc/1"],
            showsCertificate: false,
            alert: 116),
        Habit(
            testDescription: "a stranger's certificate", arguments: ["-tls1_3", "-alpn", "mpc/1"],
            showsCertificate: true, alert: 42),
    ]

    @Test(
        "a foreign TLS client is refused inside TLS, and the alert is the last byte sent [tls.version] [tls.alpn] [tls.client-certificate] [tls.pin]",
        .enabled(if: OpenSSLClient.isPresent), arguments: habits)
    func foreignTLS(_ habit: Habit) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "multipeer-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let certificate = habit.showsCertificate ? try OpenSSLClient.makeCertificate(in: directory) : []
        try await withAwaitingSession { tap in
            let client = OpenSSLClient(port: tap.address.port, arguments: habit.arguments + certificate)
            let said = try await client.run()
            #expect(said.contains("alert number \(habit.alert)"), "\(said)")
            let flow = try #require(await tap.flows.first)
            if habit.alert == 70 || habit.alert == 120 {
                #expect(flow.fromListener.count == 7)
                #expect(flow.fromListener.first == 0x15)
                #expect(flow.fromListener.suffix(4) == [0, 2, 2, UInt8(habit.alert)])
            } else {
                // The last record is the alert and nothing else: 2 bytes, their type, and 16 of the cipher.
                #expect(flow.fromListener.suffix(24).starts(with: [0x17, 0x03, 0x03, 0x00, 0x13]))
            }
        }
    }

    static let noises: [String: [UInt8]] = [
        "garbage": (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 77) },
        "HTTP": Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
        "a preface": Array("MPCPLAIN".utf8),
        "a cut preface": Array("MPCPLAI".utf8),
        "zeros": [UInt8](repeating: 0, count: 70_000),
        "an endless record": [0x16, 0x03, 0x01, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 66_000),
        "a record of no handshake": [0x16, 0x03, 0x01, 0x00, 0x04, 1, 2, 3, 4],
        "an alert": [0x15, 0x03, 0x01, 0x00, 0x02, 2, 40],
    ]

    @Test(
        "noise is not answered, except perhaps with an alert [enc.required]",
        arguments: noises.keys.sorted())
    func noise(_ name: String) async throws {
        try await withAwaitingSession { tap in
            try await tap.dial(sending: Self.noises[name] ?? [])
            try await within { await tap.until { $0.first?.isOver == true } }
            let answer = try #require(await tap.flows.first).fromListener
            #expect(answer.isEmpty || (answer.first == 0x15 && answer.count == 7))
        }
    }

    @Test("a client that sends nothing is closed after five seconds [link.timeouts]")
    func silence() async throws {
        try await withAwaitingSession { tap in
            let start = ContinuousClock.now
            try await tap.dial(sending: [])
            try await within { await tap.until { $0.first?.isOver == true } }
            let passed = ContinuousClock.now - start
            #expect(passed > .seconds(4.5) && passed < .seconds(20))
            #expect(await tap.flows.first?.fromListener.isEmpty == true)
        }
    }

    @Test("bytes that arrive one by one still make a link")
    func drip() async throws {
        try await withTaps { annsTap, bobsTap in
            for tap in [annsTap, bobsTap] { await tap.meddle { $0.offset < 20_000 ? .drip : .pass } }
            let meeting = try Meeting(
                ann: .loopback(.required).tapped(by: annsTap), bob: .loopback(.required).tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            await meeting.end()
        }
    }

    /// Runs `body` with a session that expects a peer which never comes, behind a tap.
    private func withAwaitingSession(_ body: (Tap) async throws -> Void) async throws {
        try await withTaps { tap, deadEnd in
            await deadEnd.meddle { _ in .hold }
            let meeting = try Meeting(
                ann: .loopback(timeLimit: .seconds(60)).tapped(by: tap), bob: .loopback().tapped(by: deadEnd))
            _ = try await meeting.ann.connectionData()
            let awaited = try await meeting.bob.connectionData()
            let search = Task { await meeting.ann.trying(awaited) }
            try await body(tap)
            #expect(await meeting.ann.connectedPeers.isEmpty)
            await meeting.end()
            #expect(await search.value.isLinked == false)
        }
    }
}
