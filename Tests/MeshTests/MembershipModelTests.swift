import FuzzBodies
import TestSupport
import Testing

@Suite("11 Membership against a model", .computing)
struct MembershipModelTests {
    @Test(
        "after any events in any order, entries, component, cap and dialled members follow the rules",
        arguments: 0..<20 as Range<UInt64>)
    func scripts(_ seed: UInt64) throws {
        var random = Seeded(seed)
        for round in 0..<40 {
            let script = random.bytes(Int.random(in: 20...400, using: &random))
            #expect(throws: Never.self, "round \(round)") { try FuzzBody.membership.run(script) }
        }
    }
}
