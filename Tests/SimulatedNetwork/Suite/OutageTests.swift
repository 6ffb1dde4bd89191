import SimulatedRoom
import TestSupport
import Testing

@Suite("Outages of a simulated network", .computing)
struct OutageTests {
    @Test(
        "documented programs hear each other again within five seconds after an outage, whatever it was [mdns.missed]",
        arguments: Outage.Program.allCases, [8, 12, 16, 300])
    func whole(_ program: Outage.Program, seconds: Int) async throws {
        for (seed, peers) in [(UInt64(seconds), 2), (UInt64(seconds) + 1, 4)] {
            let outage = Outage(
                seed: seed, program: program, peers: peers, duration: .seconds(seconds),
                isOfOne: seconds % 3 == 0)
            let result = try await outage.run()
            let time = try #require(result.time, "\(result.history.suffix(40).joined(separator: "\n"))")
            #expect(time <= Outage.limit)
        }
    }
}
