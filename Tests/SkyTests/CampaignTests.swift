import Foundation
import Multipeer
import Synchronization
import TestSupport
import Testing

@testable import sky

@Suite("Sky: a campaign", .computing)
struct CampaignTests {
    @Test("failed tiles are repeated with high priority, and only those")
    func priority() async throws {
        let seen = Mutex<[Int: TaskPriority]>([:])
        var plan = Plan()
        (plan.tiles, plan.size, plan.exposure, plan.failures) = (20, 16, 0, 5)
        let found = try await scans(of: plan) { findings in
            let priority = Task.currentPriority
            seen.withLock { $0[findings.tile] = priority }
        }
        #expect(found == 20)
        let cloudy = Set((0..<20).filter(plan.isCloudy))
        #expect(cloudy.count == 5)
        let priorities = seen.withLock { $0 }
        #expect(priorities.count == 20)
        #expect(Set(priorities.filter { $0.value >= .high }.keys) == cloudy, "\(priorities)")
    }

    /// How many tiles were scanned by a station alone.
    private func scans(
        of plan: Plan, onScan: @escaping @Sendable (Findings) -> Void
    ) async throws -> Int {
        let station = try await Station(name: "ann", service: "sky", isLocal: true, onScan: onScan)
        let survey = try await Campaign(plan, station, Crew()).run().survey
        await station.close()
        return survey.findings.count
    }
}
