import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerTransport
import TestSupport
import Testing

@Suite("15 Memory for received data", .inTurns)
struct ReceiveMemoryTests {
    /// In a process of its own: it measures the memory of the process, and its own use would disturb other tests.
    @Test("seven peers that fill all windows are kept within the limit, and stay linked [limit.memory]")
    func sevenGreedyPeers() async {
        await #expect(processExitsWith: .success) { try await ReceiveMemoryTests.meetSevenGreedyPeers() }
    }

    private static func meetSevenGreedyPeers() async throws {
        let ann = try SessionDriver(
            PeerID(displayName: "ann"), .loopback(.none).with { $0.idleTimeout = .seconds(600) })
        let data = try await ann.connectionData(for: nil)
        let before = try residentBytes()
        let (linked, filled, over) = (Counter(), Counter(), Counter())
        let greedy = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...7 {
                    group.addTask { try await visit(ann, data, linked, filled, until: over) }
                    // One after the other: unauthenticated connections from one address are limited.
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
        let grown = try residentBytes() - before
        // Besides what is held there is what the system keeps for the next time.
        #expect(grown < 72 * 1_048_576 || Sanitizer.isOn, "\(grown / 1_048_576) MiB")
        over.add()
        #expect(await most.value <= ReceiveMemory.limit)
        await ann.shutDown()
        try await within { try await greedy.value }
    }

    /// Links, again if a busy machine took too long for that, and sends everything.
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
            for wave in 0..<Greed.waves { try await peer.write(Greed.wave(wave)) }
            filled.add()
            return await over.reaches(1)
        }
    }
}

/// Everything that a peer may send to a session that takes nothing, wave by wave: 64 channels with long announcements,
/// each as full as its credit allows; messages; one message that never ends.
private enum Greed {
    static let messages = 30
    private static let parts = 33
    private static let piece = [UInt8](repeating: 1, count: 65_536)
    private static let pieces = Limits.channels * Limits.channelCredit / piece.count

    static var waves: Int { 1 + pieces + messages + parts }

    static func wave(_ number: Int) -> [UInt8] {
        var buffer = ByteBuffer()
        switch number {
        case 0:
            for channel in 1...Limits.channels { open(UInt32(channel), &buffer) }
        case ...pieces:
            let channel = UInt32(1 + (number - 1) % Limits.channels)
            buffer.appendFrame(.data, channel: channel, payload: piece.span)
        case ...(pieces + messages):
            buffer.appendFrame(.message, payload: piece.span.extracting(0..<60_000))
        default: buffer.appendFrame(.messagePart, payload: piece.span)
        }
        return buffer.takeAll()
    }

    private static func open(_ channel: UInt32, _ buffer: inout ByteBuffer) {
        let opening = ChannelOpening(
            kind: .stream, name: String(repeating: "x", count: 1_024),
            metadata: [UInt8](repeating: 0, count: 1_024))
        Frame.open(channel: channel, opening).encode(into: &buffer)
    }
}
