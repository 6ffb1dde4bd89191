import TestSupport
import Testing

@Suite("Facade: the cost of streams", .inTurns)
struct StreamCostTests {
    @Test("200,000 small reads from one stream keep no memory, and so the last costs what the first did")
    func smallReads() async throws {
        // In a process of its own: other tests allocate memory as well.
        try await ReuseProcess("small-reads", "\(Sanitizer.fewer(200_000))").end()
    }

    @Test("a stream that is scheduled on a run loop and removed from it 10,000 times keeps no memory")
    func schedulings() async throws {
        try await ReuseProcess("schedulings", "10000").end()
    }
}
