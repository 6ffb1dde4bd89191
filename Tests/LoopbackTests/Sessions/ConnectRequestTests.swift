import MultipeerCore
import MultipeerEngine
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import TestSupport
import Testing

@Suite("14 Calls that wait for a link", .computing)
struct ConnectRequestTests {
    @Test("a call while the session leaves has exactly one outcome, at once")
    func leaving() throws {
        let (ann, bob) = (
            EngineSide(uid: UID(high: 1, low: 1), address: 1),
            EngineSide(uid: UID(high: 2, low: 2), address: 2)
        )
        _ = try ann.data()
        let data = try bob.data()
        ann.engine.leave(within: .seconds(1), at: ann.now)
        let request = try #require(
            try ann.engine.connect(with: data, within: .seconds(30), at: ann.now))
        var outcomes: [DisconnectReason?] = []
        for case .connectEnded(request, let reason) in ann.engine.takeOutputs() { outcomes.append(reason) }
        #expect(outcomes.map { $0?.code } == [.left])
    }
}
