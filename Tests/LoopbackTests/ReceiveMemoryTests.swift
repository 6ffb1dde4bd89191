import Multipeer
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("15 What a session holds of what it is sent", .inTurns, .timeLimit(.minutes(5)))
struct ReceiveMemoryTests {
    @Test(
        "seven peers that fill everything are held to the limit, and stay linked [limit.memory]")
    func sevenGreedyPeers() async throws {
        let ann = try SessionDriver(
            PeerID(displayName: "ann"), .loopback(.none).with { $0.death = .seconds(600) })
        let data = try await ann.connectionData(for: nil)
        let (linked, filled, over) = (Counter(), Counter(), Counter())
        let greedy = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...7 {
                    group.addTask { try await Self.visit(ann, data, linked, filled, until: over) }
                    // One after the other: strangers from one address are few.
                    try await within(.seconds(120)) { await linked.reaches(number) }
                }
                try await group.waitForAll()
            }
        }
        let most = Task {
            var most = 0
            while over.count == 0 {
                most = max(most, await ann.heldBytes)
                await Task.yield()
            }
            return most
        }
        try await within(.seconds(120)) { await filled.reaches(7) }
        try await within {
            while true {
                try Task.checkCancellation()
                var arrived = 0
                for peer in await ann.linkedPeers {
                    let facts = await ann.facts(peer.uid)
                    if facts?.statistics.messagesReceived == Greed.messages { arrived += 1 }
                }
                if arrived == 7 { return }
                await Task.yield()
            }
        }
        #expect(await ann.linkedPeers.count == 7)
        let held = await ann.heldBytes
        #expect(held <= ReceiveMemory.limit)
        #expect(held > ReceiveMemory.limit - 2 * Limits.channelCredit)
        over.add()
        #expect(await most.value <= ReceiveMemory.limit)
        await ann.shutDown()
        try await within { try await greedy.value }
    }

    /// Is linked, which a busy machine may take too long for and which is tried again then, and sends everything.
    private static func visit(
        _ ann: SessionDriver, _ data: ConnectionData, _ linked: Counter, _ filled: Counter,
        until over: Counter
    ) async throws {
        while true {
            try Task.checkCancellation()
            var peer = try RudePeer(meeting: data, room: 1_048_576)
            let own = peer.data
            async let search: Void? = try? ann.connect(with: own)
            guard (try? await peer.introduce(untilLinked: true)) != nil else {
                await ann.cancel(own.peer.uid)
                await search
                continue
            }
            await search
            linked.add()
            for wave in Greed.waves { try await peer.write(wave) }
            filled.add()
            return await over.reaches(1)
        }
    }
}

/// Everything that a peer may send to a session that takes nothing.
private enum Greed {
    static let messages = 30
    private static let parts = 33

    /// 64 channels with long announcements, each as full as its credit allows; messages; one message that never ends.
    static var waves: [[UInt8]] {
        let opening = ChannelOpening(
            kind: .stream, name: String(repeating: "x", count: 1_024),
            metadata: [UInt8](repeating: 0, count: 1_024))
        var waves: [[UInt8]] = []
        func add(_ write: (inout ByteBuffer) -> Void) {
            var buffer = ByteBuffer()
            write(&buffer)
            waves.append(buffer.takeAll())
        }
        let numbers = UInt32(1)...UInt32(Limits.channels)
        add { buffer in for number in numbers { Frame.open(channel: number, opening).encode(into: &buffer) } }
        let piece = [UInt8](repeating: 1, count: 65_536)
        for _ in 0..<(Limits.channelCredit / piece.count) {
            for number in numbers {
                add { $0.appendFrame(.data, channel: number, payload: piece.span) }
            }
        }
        for _ in 0..<messages { add { $0.appendFrame(.message, payload: piece.span.extracting(0..<60_000)) } }
        for _ in 0..<parts { add { $0.appendFrame(.messagePart, payload: piece.span) } }
        return waves
    }
}
