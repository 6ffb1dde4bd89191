import Multipeer
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("15 Crowds", .inTurns)
struct CrowdTests {
    @Test("500 idle connections do not stop an honest peer, and are closed [limit.unauthenticated]")
    func idle() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: .loopback().tapped(by: annsTap), bob: .loopback().tapped(by: bobsTap))
            _ = try await meeting.ann.connectionData()
            for _ in 0..<Sanitizer.fewer(250) { try await annsTap.dial(sending: []) }
            async let linked: Void = meeting.link()
            for _ in 0..<Sanitizer.fewer(250) { try await annsTap.dial(sending: []) }
            try await linked
            try await within { try await meeting.expectTalk() }
            await meeting.end()
            // When many come at once, the system may have answered for a listener that never saw them: they learn it now.
            for flow in await annsTap.flows.indices { await annsTap.inject([0], to: .listener, of: flow) }
            try await within { await annsTap.until { $0.allSatisfy(\.isOver) } }
        }
    }

    @Test("unauthenticated connections do not displace a linked peer [limit.unauthenticated]")
    func linkedStays() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: .loopback().tapped(by: annsTap), bob: .loopback().tapped(by: bobsTap))
            try await meeting.link()
            let before = (await annsTap.flows.count, await bobsTap.flows.count)
            for _ in 0..<40 {
                try await annsTap.dial(sending: [])
                try await bobsTap.dial(sending: [])
            }
            // All but the last four of each are pushed out.
            try await within { await annsTap.until { $0.dropFirst(before.0).count(where: \.isOver) >= 36 } }
            try await within { await bobsTap.until { $0.dropFirst(before.1).count(where: \.isOver) >= 36 } }
            try await within { try await meeting.expectTalk() }
            await meeting.end()
        }
    }

    @Test("eight sessions are all linked with each other, and a ninth is refused with FULL [limit.links]")
    func eight() async throws {
        let sessions = try (0..<9).map {
            try Session(
                peer: PeerID(displayName: "peer \($0)"), configuration: .loopback(timeLimit: .seconds(20)))
        }
        let data = try await sessions.prefix(8).asyncMap { try await $0.connectionData() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, session) in sessions.prefix(8).enumerated() {
                for (other, data) in data.enumerated() where other != index {
                    group.addTask { try await session.connect(with: data) }
                }
            }
            try await group.waitForAll()
        }
        for session in sessions.prefix(8) { #expect(await session.connectedPeers.count == 7) }
        try await expectTalk(among: Array(sessions.prefix(8)))
        let ninth = try await sessions[8].connectionData()
        async let refused = sessions[0].trying(ninth)
        async let told = sessions[8].trying(data[0])
        for fared in await [refused, told] { #expect(fared.error?.reason?.code == .full) }
        for session in sessions { await session.disconnect() }
    }

    @Test("a peer without a free slot is refused with FULL [limit.links]")
    func noSeat() async throws {
        let small = Session.Configuration.loopback(timeLimit: .seconds(20)).with { $0.maximumPeers = 2 }
        let (ann, bob) = (
            try Session(peer: PeerID(displayName: "ann"), configuration: small),
            try Session(peer: PeerID(displayName: "bob"), configuration: .loopback(timeLimit: .seconds(20)))
        )
        let carl = try Session(
            peer: PeerID(displayName: "carl"), configuration: .loopback(timeLimit: .seconds(20)))
        let (annsData, bobsData) = (try await ann.connectionData(), try await bob.connectionData())
        let carlsData = try await carl.connectionData()
        // Both are connecting while one place is free; one of them gets it.
        async let toBob = ann.trying(bobsData)
        async let toCarl = ann.trying(carlsData)
        async let fromBob = bob.trying(annsData)
        async let fromCarl = carl.trying(annsData)
        let fared = await [toBob, toCarl, fromBob, fromCarl]
        #expect(
            fared.map(\.isLinked) == [true, false, true, false]
                || fared.map(\.isLinked) == [false, true, false, true])
        for result in fared where !result.isLinked { #expect(result.error?.reason?.code == .full) }
        for session in [ann, bob, carl] { await session.disconnect() }
    }

    private func expectTalk(among sessions: [Session]) async throws {
        for session in sessions {
            let others = await session.connectedPeers
            try await session.send(Array(session.peer.displayName.utf8), to: others)
        }
        for session in sessions {
            let senders = try await within { () -> Set<PeerID> in
                var senders: Set<PeerID> = []
                for await event in session.events {
                    guard case .message(let message) = event else { continue }
                    #expect(message.bytes == Array(message.peer.displayName.utf8))
                    senders.insert(message.peer)
                    if senders.count == sessions.count - 1 { break }
                }
                return senders
            }
            #expect(senders.count == sessions.count - 1)
        }
    }
}

extension Sequence {
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
