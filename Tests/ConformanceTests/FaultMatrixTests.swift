import MultipeerCommandLine
import TestSupport
import Testing

@testable import MultipeerConformance

@Suite("Which cases fail with a fault", .inTurns, .serialized)
struct FaultMatrixTests {
    @Test(
        "a fault is tried with the cases that name it and the quick ones of their section")
    func row() async throws {
        let matrix = try await FaultMatrixTests.matrix(["answers-close"], ["FRM-0?"])
        let row = try #require(matrix.faults["answers-close"])
        #expect(row.named == ["FRM-06"])
        #expect(row.isExchangePossible)
        #expect(row.failing.contains("FRM-06"))
        #expect(row.tried == 9)
    }

    @Test("a fault with which no link works is tried with no other case")
    func noExchange() async throws {
        let matrix = try await FaultMatrixTests.matrix(["mac-role-wrong"], ["LINK-12"])
        let row = try #require(matrix.faults["mac-role-wrong"])
        #expect(!row.isExchangePossible && row.failing == ["LINK-12"] && row.others.isEmpty && row.tried == 1)
    }

    private static func matrix(_ bugs: [String], _ words: [String]) async throws -> FaultMatrix {
        var selection = CaseSelection()
        selection.words = words
        let cases = selection.cases
        let program = TestRunnerTests.program
        return try await Worker("matrix").run { () throws(CommandError) in
            FaultMatrix(
                bugs: bugs, cases: cases, seed: 1, jobs: 2, shim: { "\(program) peer --bug \($0)" },
                tell: { _, _ in })
        }
    }
}
