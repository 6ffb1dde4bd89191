import FuzzBodies
import TestSupport
import Testing

@Suite("11 Membership and its model", .computing)
struct MembershipModelTests {
    @Test(
        "whatever happens in whatever order, entries, component, cap and whom it seeks are what the rules say",
        arguments: 0..<20 as Range<UInt64>)
    func scripts(_ seed: UInt64) throws {
        var random = Seeded(seed)
        for round in 0..<40 {
            let script = random.bytes(Int.random(in: 20...400, using: &random))
            #expect(throws: Never.self, "round \(round)") { try FuzzBody.membership.run(script) }
        }
    }
}
