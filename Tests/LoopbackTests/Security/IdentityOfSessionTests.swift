import Multipeer
import MultipeerCore
import TestSupport
import Testing

@Suite("3 Peers and their sessions", .inTurns)
struct IdentityOfSessionTests {
    @Test("every new peer id has its own bytes, even under the same name [peer.uid-random]")
    func uids() throws {
        let uids = try (0..<1_000).map { _ in try PeerID(displayName: "Ann").uid }
        #expect(Set(uids).count == uids.count)
        // Each of the other 122 bits is set in about half of them.
        #expect(uids.allSatisfy { $0.bytes[6] >> 4 == 4 && $0.bytes[8] >> 6 == 0b10 })
        for bit in Array(0..<52) + Array(56..<70) + Array(72..<128) {
            let set = uids.count { $0.bytes[bit / 8] >> (bit % 8) & 1 == 1 }
            #expect((350...650).contains(set), "bit \(bit): \(set)")
        }
    }

    @Test(
        "every session of a peer is another endpoint, and a new one after it has disconnected [endpoint.instance]"
    )
    func instances() async throws {
        let ann = try PeerID(displayName: "Ann")
        var instances: Set<UInt64> = []
        for _ in 0..<4 {
            let session = try Session(peer: ann, configuration: .loopback())
            for _ in 0..<2 {
                instances.insert(try await session.connectionData().instance)
                await session.disconnect()
            }
        }
        #expect(instances.count == 8)
    }
}
