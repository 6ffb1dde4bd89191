import Multipeer
import MultipeerFraming
import MultipeerMesh
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("5 A man in the middle", .inTurns)
struct MiddleTests {
    /// What the middle does to one or both blobs, and to the connections.
    enum Flip: CaseIterable, Sendable { case anns, bobs, both }

    static let preferences: [(EncryptionPreference, EncryptionPreference)] = [
        (.required, .required), (.required, .optional), (.optional, .required), (.optional, .optional),
    ]
    /// In the middle of a record or frame, and between them.
    static let cuts: [(EncryptionPreference, Int)] =
        [1, 100, 300, 500, 700, 750, 800, 900, 960, 1_000].map { (.required, $0) }
        + [1, 8, 9, 100, 200, 260, 285].map { (.none, $0) }
    static let timeLimit = Duration.milliseconds(1_200)

    private static func tapped(
        _ preference: EncryptionPreference, _ tap: Tap, timeLimit: Duration = timeLimit
    ) -> Session.Configuration {
        .loopback(preference, timeLimit: timeLimit).tapped(by: tap)
    }

    @Test(
        "a man in the middle that downgrades connection data gets no link, nor a byte of a message [enc.required] [hello.refs]",
        arguments: preferences, Flip.allCases)
    func flippedPreference(_ pair: (EncryptionPreference, EncryptionPreference), _ flip: Flip) async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: Self.tapped(pair.0, annsTap), bob: Self.tapped(pair.1, bobsTap))
            let fared = try await meeting.attempt(
                changing: { flip == .bobs ? $0.bytes : Blob($0).plain.bytes },
                and: { flip == .anns ? $0.bytes : Blob($0).plain.bytes })
            #expect(!fared.ann.isLinked && !fared.bob.isLinked)
            if pair.0 == .required || pair.1 == .required {
                // Of a required end, not one byte in plain, whatever it was sent.
                let mute = pair.0 == .required ? annsTap : bobsTap
                for flow in await mute.flows {
                    #expect(!flow.fromListener.starts(with: Array("MPCPLAIN".utf8)))
                }
            }
            await meeting.end()
        }
    }

    @Test("a man in the middle that answers TLS with its own certificate is refused inside TLS [tls.pin]")
    func ownCertificate() async throws {
        try await eventually { timeLimit in
            let forger = try Forger()
            try await withTaps { annsTap, bobsTap in
                let meddler: Tap.Meddler = { chunk in chunk.from == .dialler ? forger.answer(chunk) : .hold }
                await annsTap.meddle(meddler)
                await bobsTap.meddle(meddler)
                let meeting = try Meeting(
                    ann: Self.tapped(.required, annsTap, timeLimit: timeLimit),
                    bob: Self.tapped(.required, bobsTap, timeLimit: timeLimit))
                let fared = try await meeting.attempt()
                #expect(fared.ann.error?.reason?.code == .timedOut)
                #expect(fared.bob.error?.reason?.code == .timedOut)
                await meeting.end()
            }
            #expect(forger.plaintext.isEmpty)
            return forger.met > 0
        }
    }

    @Test("a man in the middle that answers TLS in plain is refused [enc.no-negotiation]")
    func plainAnswer() async throws {
        try await withTaps { annsTap, bobsTap in
            let meddler: Tap.Meddler = { chunk in
                chunk.from == .dialler && chunk.offset == 0 ? .answer(Array("MPCPLAIN".utf8)) : .hold
            }
            await annsTap.meddle(meddler)
            await bobsTap.meddle(meddler)
            let meeting = try Meeting(
                ann: Self.tapped(.optional, annsTap), bob: Self.tapped(.optional, bobsTap))
            let fared = try await meeting.attempt()
            #expect(!fared.ann.isLinked && !fared.bob.isLinked)
            for flow in await annsTap.flows + bobsTap.flows {
                // A dial that was given up at once brought nothing.
                #expect(flow.fromDialler.isEmpty || flow.fromDialler.first == 0x16)
                #expect(!flow.fromDialler.contains(Array("MPCPLAIN".utf8)))
            }
            await meeting.end()
        }
    }

    @Test("a man in the middle that turns TLS into plain gets no answer [enc.required]")
    func plainDialler() async throws {
        try await withTaps { annsTap, bobsTap in
            let meddler: Tap.Meddler = { chunk in
                chunk.from == .dialler && chunk.offset == 0 ? .replace(Array("MPCPLAIN".utf8)) : .pass
            }
            await annsTap.meddle(meddler)
            await bobsTap.meddle(meddler)
            let meeting = try Meeting(
                ann: Self.tapped(.required, annsTap), bob: Self.tapped(.optional, bobsTap))
            let fared = try await meeting.attempt()
            #expect(!fared.ann.isLinked && !fared.bob.isLinked)
            for flow in await annsTap.flows + bobsTap.flows { #expect(flow.fromListener.isEmpty) }
            await meeting.end()
        }
    }

    @Test(
        "a connection that is cut at any point of the handshake is made again, and becomes one link [link.retry]",
        arguments: cuts)
    func cut(_ preference: EncryptionPreference, after count: Int) async throws {
        try await withTaps { annsTap, bobsTap in
            let meddler: Tap.Meddler = { chunk in
                guard chunk.flow < 2, chunk.offset + chunk.bytes.count >= count else { return .pass }
                return .cut(Array(chunk.bytes.prefix(max(0, count - chunk.offset))))
            }
            await annsTap.meddle(meddler)
            await bobsTap.meddle(meddler)
            let meeting = try Meeting(
                ann: Self.tapped(preference, annsTap, timeLimit: .seconds(15)),
                bob: Self.tapped(preference, bobsTap, timeLimit: .seconds(15)))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            await meeting.end()
        }
    }

    @Test(
        "a link that is cut in the middle of a message reports the loss, and delivers no part of it [tls.truncation] [msg.failed]"
    )
    func truncated() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: Self.tapped(.required, annsTap, timeLimit: .seconds(15)),
                bob: Self.tapped(.required, bobsTap, timeLimit: .seconds(15)))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            let meddler: Tap.Meddler = { $0.offset > 300_000 ? .cut([]) : .pass }
            await annsTap.meddle(meddler)
            await bobsTap.meddle(meddler)
            try await meeting.ann.send([UInt8](repeating: 7, count: 4_000_000), to: meeting.bob.peer)
            let heard = try await within { () -> (DisconnectReason?, DisconnectReason?) in
                (await meeting.bob.events.firstEnd(), await meeting.ann.events.firstEnd())
            }
            #expect(heard.0?.code == .lost)
            #expect(heard.1?.code == .lost)
            await #expect(throws: MultipeerError.self) {
                try await meeting.ann.send([1], to: meeting.bob.peer)
            }
            await meeting.end()
        }
    }

    @Test("a replayed connection to the same session fails [confirm.binding]")
    func replay() async throws {
        try await withTaps { annsTap, bobsTap in
            for preference in [EncryptionPreference.required, .none] {
                let meeting = try Meeting(
                    ann: Self.tapped(preference, annsTap, timeLimit: .seconds(10)),
                    bob: Self.tapped(preference, bobsTap, timeLimit: .seconds(10)))
                try await meeting.link()
                try await within { try await meeting.expectTalk() }
                let isAnns = await meeting.bob.connectionInfo(for: meeting.ann.peer)?.isDialled == true
                let tap = isAnns ? annsTap : bobsTap
                let recorded = await tap.flows.last?.fromDialler ?? []
                let before = await tap.flows.count
                try await tap.dial(sending: recorded)
                try await within { await tap.until { $0.count > before && $0[before].isOver } }
                #expect(await meeting.ann.connectedPeers == [meeting.bob.peer])
                #expect(await meeting.bob.connectedPeers == [meeting.ann.peer])
                try await within { try await meeting.expectTalk() }
                await meeting.end()
            }
        }
    }
}

/// A TLS server with a key of its own, one for every connection it is asked to answer.
final class Forger: Sendable {
    private struct State {
        var channels: [Int: Channel] = [:]
        var plaintext: [UInt8] = []
        var faults: [String] = []
    }

    private final class Channel {
        var secure: SecureChannel
        init(_ secure: consuming SecureChannel) { self.secure = secure }
    }

    private let context: TLSContext
    private let state = Locked(State())

    init() throws { context = try TLSContext(identity: Identity.generate()) }

    var met: Int { state.withLock { $0.channels.count } }
    var plaintext: [UInt8] { state.withLock { $0.plaintext } }

    func answer(_ chunk: Tap.Chunk) -> Tap.Verdict {
        let output = state.withLock { state -> [UInt8] in
            if state.channels[chunk.flow] == nil {
                guard let secure = try? SecureChannel.tls(context, role: .server, accepting: []) else {
                    return []
                }
                state.channels[chunk.flow] = Channel(secure)
            }
            guard let channel = state.channels[chunk.flow] else { return [] }
            var read = ByteBuffer()
            do {
                try channel.secure.receive(chunk.bytes.span)
                if try channel.secure.handshake() { _ = try channel.secure.read(into: &read, upTo: 65_536) }
            } catch {
                state.faults.append("\(error)")  // the alert goes out with the output below
            }
            state.plaintext += read.takeAll()
            var output: [UInt8] = []
            channel.secure.withOutput { bytes in
                for index in bytes.indices { output.append(bytes[index]) }
                return bytes.count
            }
            return output
        }
        return .answer(output)
    }
}

/// Runs `body` with two taps, which are stopped after it.
func withTaps(_ body: (Tap, Tap) async throws -> Void) async throws {
    let (first, second) = (try await Tap(), try await Tap())
    do {
        try await body(first, second)
    } catch {
        await first.stop()
        await second.stop()
        throw error
    }
    await first.stop()
    await second.stop()
}

extension Meeting {
    /// A message each way.
    func expectTalk() async throws {
        try await ann.send(Array("to bob".utf8), to: bob.peer)
        try await bob.send(Array("to ann".utf8), to: ann.peer)
        #expect(await bob.events.firstMessage() == Array("to bob".utf8))
        #expect(await ann.events.firstMessage() == Array("to ann".utf8))
    }
}
