import TestSupport
import Testing

/// Every suite takes turns with the others: one without a place would run all its tests at once, and starve those that
/// wait for sockets until they miss their deadlines.
@Suite("Suites take turns", .computing)
struct TurnsTests {
    @Test("every suite states whether it computes or waits")
    func places() throws {
        let files = try Repository.files(under: "Tests") { $0.hasSuffix(".swift") }
        let suites = files.flatMap { file in
            file.text.matches(
                of:
                    /@Suite\((?<traits>(?:"(?:[^"\\]|\\.)*"|[^"])*?)\)\s+(?:[a-z@]+\s+)*(?:struct|class|actor)\b/
            )
            .map { (file.path, $0.output.traits) }
        }
        #expect(suites.count > 200)
        for (path, traits) in suites {
            #expect(traits.contains(".computing") != traits.contains(".inTurns"), "\(path): \(traits)")
        }
    }

    @Test("no test has a time limit that contains the wait for its turn")
    func limits() throws {
        let files = try Repository.files(under: "Tests") { $0.hasSuffix(".swift") }
        for file in files {
            #expect(!file.text.contains(/\.timeLimit\(\.minutes/), "\(file.path): use .inTurns(within:)")
        }
    }

    @Test("a test that does not end in its time is an issue, and its task is cancelled")
    func overdue() async {
        let turns = Turns.inTurns(within: .milliseconds(1))
        var reports: [String] = []
        await #expect(throws: Never.self) {
            try await turns.limited {
                await Self.waitUntilCancelled()
                throw CancellationError()
            } report: {
                reports.append($0)
            }
        }
        #expect(reports.count == 1)
        #expect(reports.first?.hasPrefix("the test had not ended") == true)
    }

    @Test("an error of a test is the test's, not the limit's")
    func failing() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await Turns.inTurns(within: .seconds(600)).limited { throw Failure() }
        }
        try await Turns.inTurns(within: .seconds(600)).limited {}
    }

    /// Returns when the task is cancelled, and not before.
    private static func waitUntilCancelled() async {
        let (stream, _) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
    }
}
