import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("A reader that stops reading", .inTurns)
struct HoldingBackTests {
    @Test("a slow reader holds back only its sender, whose sends fail beyond a limit, and nothing is lost")
    func mark() async throws {
        let network = InMemoryDiscovery()
        let (ann, bob, carol) = (
            TestApplication("ann", on: network), TestApplication("bob", on: network),
            TestApplication("carol", on: network)
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
        // While the first ones travel there is room again now and then, in which what goes to both finds a place, too.
        var (sent, toCarol): ([Data], [Data]) = ([], [])
        var failure: MCError?
        while failure == nil, sent.count < 200 {
            while sent.count < 200,
                (try? session.send(message(sent.count), toPeers: [bob.peer], with: .reliable)) != nil
            {
                sent.append(message(sent.count))
            }
            do {
                try session.send(word, toPeers: [carol.peer, bob.peer], with: .reliable)
                sent.append(word)
                toCarol.append(word)
            } catch { failure = error as? MCError }
        }
        // 64 MiB after the native 4 MiB, and what the reader has granted.
        #expect((68...76).contains(sent.count))
        guard case MCError.unavailable? = failure else {
            Issue.record("sending ended with \(String(describing: failure))")
            gate.signal()
            return
        }
        // To both or to neither; and to others as before.
        toCarol.append(Data("carol".utf8))
        try session.send(toCarol[toCarol.count - 1], toPeers: [carol.peer], with: .reliable)
        try await inTime { [toCarol] in await carol.until { $0.messages.count == toCarol.count } }
        #expect(carol.messages == toCarol)
        #expect(session.connectedPeers.count == 2)
        gate.signal()
        try await inTime { [sent] in await bob.until { $0.messages.count == sent.count } }
        #expect(bob.messages == sent)
        try session.send(Data("on".utf8), toPeers: [bob.peer], with: .reliable)
        try await inTime { [sent] in await bob.until { $0.messages.count == sent.count + 1 } }
        for handset in [ann, bob, carol] { handset.perform(.release) }
    }

    private let word = Data("both".utf8)

    private func message(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 1_048_576) }
}
