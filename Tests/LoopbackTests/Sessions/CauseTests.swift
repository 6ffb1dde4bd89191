import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerMesh
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

/// Every cause that ends an attempt or a link, and the one reason that each end reports. Spec 14.3.
@Suite("14.3 Causes and reasons", .inTurns)
struct CauseTests {
    /// What one end has to report: a session a reason, a hand-made peer the code that it received.
    enum Telling: Equatable, Sendable {
        case reason(DisconnectReason.Code, CloseCode? = nil)
        case told(CloseCode)
        /// It never received anything from the other.
        case nothing

        init(_ reason: DisconnectReason?) { self = reason.map { .reason($0.code, $0.closeCode) } ?? .nothing }
    }

    struct Cause: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let ann: Telling
        let bob: Telling
        let happen: @Sendable () async throws -> (Telling, Telling)

        init(
            _ name: String, ann: Telling, bob: Telling,
            _ happen: @escaping @Sendable () async throws -> (Telling, Telling)
        ) {
            testDescription = name
            self.ann = ann
            self.bob = bob
            self.happen = happen
        }
    }

    @Test(
        "a failed attempt has one reason at each end [state.reason] [state.outcome]",
        arguments: attempts)
    func attempt(_ cause: Cause) async throws { try await expect(cause) }

    @Test("a link that ends has one reason at each end [state.reason]", arguments: links)
    func link(_ cause: Cause) async throws { try await expect(cause) }

    private func expect(_ cause: Cause) async throws {
        let (ann, bob) = try await cause.happen()
        #expect(ann == cause.ann)
        #expect(bob == cause.bob)
    }

    // MARK: attempts

    static let attempts = [
        Cause("nobody answers in time", ann: .reason(.timedOut), bob: .reason(.timedOut)) {
            try await attempting(.loopback(timeLimit: .seconds(1)), .loopback(timeLimit: .seconds(1))) { _ in
                .hold
            }
        },
        Cause("there is no free slot", ann: .reason(.full), bob: .reason(.full, .full)) {
            let carl = try Meeting(ann: .loopback().with { $0.maximumPeers = 2 })
            try await carl.link()
            let bob = try Session(peer: PeerID(displayName: "bob"), configuration: .loopback())
            let (annsData, bobsData) = (try await carl.ann.connectionData(), try await bob.connectionData())
            async let first = carl.ann.trying(bobsData)
            async let second = bob.trying(annsData)
            let fared = await (first, second)
            await bob.disconnect()
            await carl.end()
            return (Telling(fared.0.error?.reason), Telling(fared.1.error?.reason))
        },
        Cause("one always encrypts, the other never", ann: .reason(.policy), bob: .reason(.policy)) {
            try await attempting(.loopback(.none), .loopback(.required))
        },
        Cause(
            "a certificate is refused", ann: .reason(.rejected, .rejected), bob: .reason(.rejected, .rejected)
        ) {
            let identity = try Identity.generate()
            return try await attempting(
                .loopback().with { $0.trust = .ask { _ in false } }, .loopback(identity: identity))
        },
        Cause("the application gives up", ann: .reason(.cancelled), bob: .reason(.cancelled, .cancelled)) {
            let asked = Questions(answer: nil)
            let meeting = try Meeting(
                ann: .loopback().with { $0.trust = .ask { await asked.decide($0) } },
                bob: .loopback(identity: try Identity.generate()))
            async let trying = meeting.attempt()
            try await within { await asked.arrive(1) }
            await meeting.ann.cancelConnecting(to: meeting.bob.peer)
            let fared = try await trying
            await meeting.end()
            return (Telling(fared.ann.error?.reason), Telling(fared.bob.error?.reason))
        },
        Cause("the data is for another", ann: .reason(.unknownPeer), bob: .nothing) {
            let meeting = try Meeting()
            _ = try await meeting.ann.connectionData()
            let data = try await meeting.bob.connectionData(for: PeerID(displayName: "carl"))
            let fared = await meeting.ann.trying(data)
            await meeting.end()
            return (Telling(fared.error?.reason), .nothing)
        },
        Cause("the data is one's own", ann: .reason(.selfConnection), bob: .nothing) {
            let meeting = try Meeting()
            let fared = await meeting.ann.trying(try await meeting.ann.connectionData())
            await meeting.end()
            return (Telling(fared.error?.reason), .nothing)
        },
        Cause("there is no common version", ann: .reason(.version, .version), bob: .reason(.timedOut)) {
            // Bob cannot know that it was Ann who sent it: of a HELLO of another version nothing else is read.
            // His own dials come to nothing: one that met Ann's attempt would have told him.
            let plain = Session.Configuration.loopback(.none, timeLimit: .seconds(6))
            let ofAnotherVersion: Tap.Meddler = { chunk in
                // After the preface, the header, the field's header and a version that no peer supports: version 1.
                let place = 8 + 8 + 4 + 3 - chunk.offset
                guard chunk.from == .dialler, chunk.bytes.indices.contains(place) else { return .pass }
                var bytes = chunk.bytes
                bytes[place] = 2
                return .replace(bytes)
            }
            return try await attempting(plain, plain, ofAnotherVersion, toAnn: { _ in .hold })
        },
    ]

    private static func attempting(
        _ ann: Session.Configuration, _ bob: Session.Configuration,
        _ meddler: @escaping Tap.Meddler = { _ in .pass }, toAnn: Tap.Meddler? = nil
    ) async throws -> (Telling, Telling) {
        let (annsTap, bobsTap) = (try await Tap(toAnn ?? meddler), try await Tap(meddler))
        let meeting = try Meeting.annFirst(ann: ann.tapped(by: annsTap), bob: bob.tapped(by: bobsTap))
        let fared = try await meeting.attempt()
        await meeting.end()
        for tap in [annsTap, bobsTap] { await tap.stop() }
        return (Telling(fared.ann.error?.reason), Telling(fared.bob.error?.reason))
    }

    // MARK: links

    static let links = [
        Cause("the other leaves", ann: .reason(.left), bob: .reason(.goodbye, .goodbye)) {
            try await linked { meeting, _ in await meeting.ann.disconnect() }
        },
        Cause("both leave", ann: .reason(.left), bob: .reason(.left)) {
            try await linked { meeting, taps in
                // Neither receives anything from the other any more.
                for tap in taps { await tap.meddle { _ in .hold } }
                await meeting.end()
            }
        },
        Cause("the connection is cut", ann: .reason(.lost), bob: .reason(.lost)) {
            try await linked { _, taps in for tap in taps { await tap.cutAll() } }
        },
        Cause("nothing comes through any more", ann: .reason(.timedOut), bob: .reason(.timedOut)) {
            try await linked(brief) { _, taps in for tap in taps { await tap.meddle { _ in .hold } } }
        },
        Cause("one end is gone, and the other is not told", ann: .reason(.timedOut), bob: .reason(.left)) {
            try await linked(brief) { meeting, taps in
                for tap in taps { await tap.meddle { _ in .hold } }
                await meeting.bob.disconnect(within: .zero)
            }
        },
        Cause(
            "a frame has no place", ann: .reason(.protocolViolation, .protocolError),
            bob: .told(.protocolError)
        ) {
            try await handMade { try await $0.say(.select) }
        },
        Cause(
            "an entry of the mesh, on a link of none", ann: .reason(.protocolViolation, .protocolError),
            bob: .told(.protocolError)
        ) {
            try await handMade { peer in
                try await peer.say(
                    .members(
                        Members(origin: peer.data.endpoint, sequence: 1, members: [], blob: peer.data.bytes)))
            }
        },
        Cause("too many questions", ann: .reason(.protocolViolation, .flood), bob: .told(.flood)) {
            try await handMade { peer in
                for round in 0..<20 {
                    // What comes after the last that is tolerated is not read.
                    do { try await peer.say((0..<100).map { .ping(UInt64(round * 100 + $0)) }) } catch {
                        break
                    }
                }
            }
        },
        Cause("more than there is credit for", ann: .reason(.protocolViolation, .flow), bob: .told(.flow)) {
            try await handMade { peer in
                try await peer.say(.open(channel: 1, ChannelOpening(kind: .stream, name: "x")))
                // It is not read, so there is no more credit than at first.
                let piece = [UInt8](repeating: 0, count: 16_000)
                for _ in 0..<17 { try await peer.say(.data(channel: 1, piece)) }
            }
        },
        Cause(
            "a code that nobody knows", ann: .reason(.closedByPeer, CloseCode(rawValue: 999)), bob: .nothing
        ) {
            try await handMade(hears: false) {
                try await $0.say(.close(CloseCode(rawValue: 999), reason: ""))
            }
        },
        Cause("a code of an application's", ann: .reason(.closedByPeer, .internal), bob: .nothing) {
            try await handMade(hears: false) { try await $0.say(.close(.internal, reason: "")) }
        },
        Cause(
            "the other is restarted on the same connection data", ann: .reason(.superseded),
            bob: .told(.duplicate)
        ) {
            try await handMade { try await $0.again().link() }
        },
    ]

    /// For what is about the time limit alone: a loaded machine must not reach it before.
    private static let brief = Session.Configuration.loopback().with {
        $0.keepAliveInterval = .seconds(1)
        $0.idleTimeout = .seconds(4)
    }

    private static func linked(
        _ configuration: Session.Configuration = .loopback(), _ body: (Meeting, [Tap]) async throws -> Void
    ) async throws -> (Telling, Telling) {
        let taps = [try await Tap(), try await Tap()]
        let meeting = try Meeting(
            ann: configuration.tapped(by: taps[0]), bob: configuration.tapped(by: taps[1]))
        try await meeting.link()
        try await within { try await meeting.expectTalk() }
        try await body(meeting, taps)
        let ends = try await within {
            (await meeting.ann.events.firstEnd(), await meeting.bob.events.firstEnd())
        }
        await meeting.end()
        for tap in taps { await tap.stop() }
        return (Telling(ends.0), Telling(ends.1))
    }

    private static func handMade(
        hears: Bool = true, _ body: (HandMadePeer) async throws -> Void
    ) async throws -> (Telling, Telling) {
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback())
        let peer = try HandMadePeer(meeting: try await ann.connectionData(), isLower: true)
        let data = peer.data
        async let connected: Void = ann.connect(with: data)
        for await event in ann.events { if case .peer(_, .connecting) = event { break } }
        try await peer.link()
        try await connected
        try await body(peer)
        let end = try await within { await ann.events.firstEnd() }
        var told = Telling.nothing
        if hears, case .close(let code, reason: _) = try await peer.hear(.close) { told = .told(code) }
        await ann.disconnect(within: .zero)
        return (Telling(end), told)
    }
}
