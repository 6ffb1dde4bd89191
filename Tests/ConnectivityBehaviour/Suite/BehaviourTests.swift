import Foundation
import MultipeerBehaviour
import TestSupport
import Testing

/// Runs all programs; with `PROGRAMS=stream`, those whose ids contain `stream`.
@Suite("What happens between two applications", .inTurns)
struct BehaviourTests {
    @Test("what must happen happens", arguments: ids { $0 == nil })
    func happens(_ id: String) async throws {
        let run = try await ProgramRun(id)
        #expect(run.isSuccess, "\(run)")
    }

    @Test(
        "what a known defect prevents does not happen: the mark of the program goes when the defect does",
        arguments: ids { if case .always = $0 { true } else { false } })
    func pending(_ id: String) async throws {
        let run = try await ProgramRun(id)
        #expect(!run.isSuccess, "remove the mark of \(run)")
    }

    @Test(
        "what a known defect sometimes prevents happens or not",
        arguments: ids { if case .sometimes = $0 { true } else { false } })
    func sporadic(_ id: String) async throws {
        let run = try await ProgramRun(id)
        withKnownIssue(isIntermittent: true) { #expect(run.isSuccess, "\(run)") }
    }

    private static func ids(_ isMeant: (Pending?) -> Bool) -> [String] {
        let part = ProcessInfo.processInfo.environment["PROGRAMS"] ?? ""
        return Program.all.filter { isMeant($0.pending) && (part.isEmpty || $0.id.contains(part)) }
            .map(\.id)
    }
}
