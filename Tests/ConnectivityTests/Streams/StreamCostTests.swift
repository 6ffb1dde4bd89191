import Foundation
import TestSupport
import Testing

@Suite("Facade: the cost of streams", .inTurns, .timeLimit(.minutes(5)))
struct StreamCostTests {
    @Test("200,000 small reads from one stream keep no memory, and so the last costs what the first did")
    func smallReads() async throws {
        // In a process of its own: other tests allocate memory as well.
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        process.executableURL = URL(filePath: own).deletingLastPathComponent().appending(
            path: "MultipeerReuse")
        process.arguments = ["small-reads", "\(Sanitizer.fewer(200_000))"]
        process.environment = ProcessInfo.processInfo.environment.merging(["MULTIPEER_INTERFACES": "lo"]) {
            $1
        }
        let output = Pipe()
        process.standardOutput = output
        try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        let report = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(report)")
    }
}
