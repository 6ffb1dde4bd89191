import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("A reader that stops reading", .inTurns, .timeLimit(.minutes(5)))
struct HoldingBackTests {
    @Test(
        "it holds back its sender up to a mark, where sending fails at once, and nobody else; nothing is lost"
    )
    func mark() async throws {
        let network = InMemoryDiscovery()
        let (ann, bob, carol) = (
            Handset("ann", on: network), Handset("bob", on: network), Handset("carol", on: network)
        )
        for handset in [ann, bob, carol] { handset.keepQuiet() }
        for other in [bob, carol] {
            (ann.partner, other.partner) = (other, ann)
            ann.connect()
            for (one, peer) in [(ann, other.peer), (other, ann.peer)] {
                try await inTime { await one.until { $0.isConnected(to: peer) } }
            }
        }
        let gate = DispatchSemaphore(value: 0)
        bob.at(.message) { _ in
            gate.wait()
            gate.signal()
        }
        let session = try #require(ann.session)
        var count = 0
        var failure: (any Error)?
        while failure == nil, count < 200 {
            do {
                try session.send(message(count), toPeers: [bob.peer], with: .reliable)
                count += 1
            } catch { failure = error }
        }
        // 64 MiB behind the native 4 MiB, and what the reader has granted.
        #expect((68...76).contains(count))
        guard case MCError.unavailable? = failure else {
            Issue.record("sending ended with \(String(describing: failure))")
            gate.signal()
            return
        }
        // To both or to neither; and to others as before.
        #expect(throws: MCError.self) {
            try session.send(Data("both".utf8), toPeers: [carol.peer, bob.peer], with: .reliable)
        }
        try session.send(Data("carol".utf8), toPeers: [carol.peer], with: .reliable)
        try await inTime { await carol.until { !$0.messages.isEmpty } }
        #expect(carol.messages == [Data("carol".utf8)])
        #expect(session.connectedPeers.count == 2)
        gate.signal()
        let all = count
        try await inTime { await bob.until { $0.messages.count == all } }
        #expect(bob.messages.map { Int($0[0]) } == Array(0..<all))
        try session.send(Data("on".utf8), toPeers: [bob.peer], with: .reliable)
        try await inTime { await bob.until { $0.messages.count == all + 1 } }
        for handset in [ann, bob, carol] { handset.perform(.release) }
    }

    private func message(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 1_048_576) }
}
