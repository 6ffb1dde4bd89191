import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("15 Connections that the peer does not close", .computing)
struct ClosingLimitTests {
    @Test("of connections that were closed and whose peers do nothing, 64 are held [limit.closing]")
    func closing() throws {
        let uid = UID(high: 1, low: 1)
        let local = LocalPeer(
            peer: try PeerID(validating: uid, displayName: "ann"), instance: 1, preference: .none,
            hasIdentity: false, fingerprint: nil)
        var engine = SessionEngine(local, seed: 1)
        let now = Moment(nanoseconds: 1_000_000_000_000)
        var dropped: [ConnectionID] = []
        var opened: [ConnectionID] = []
        for number in 0..<80 as Range<UInt8> {
            let accepted = engine.accepted(from: [192, 0, 2, number], at: now)
            let id = try #require(accepted)
            engine.secured(id, .plain, nonce: [UInt8](repeating: 1, count: 32), at: now)
            // An invalid frame: the engine sends CLOSE, and waits for the peer's end.
            _ = engine.receive(([0, 0, 0, 2, 0, 0, 0, 0] as [UInt8]).span, on: id, at: now)
            opened.append(id)
            for case .connection(.drop(let id)) in engine.takeOutputs() { dropped.append(id) }
        }
        #expect(dropped == Array(opened.prefix(16)))
    }
}
