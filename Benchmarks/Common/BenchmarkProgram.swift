import Glibc

/// What a program of `make bench` does around its work: it reads its arguments, and prints one line with the results.
package enum BenchmarkProgram {
    package static func run(
        _ name: String, _ modes: [Assignment.Mode],
        _ work: @escaping @Sendable (Assignment) async throws -> Report
    ) async {
        guard let assignment = Assignment(CommandLine.arguments), modes.contains(assignment.mode) else {
            complain(
                name,
                "usage: \(name) server|client MODE SIZE COUNT\nMODE: "
                    + modes.map(\.rawValue).joined(separator: " "))
            exit(64)
        }
        alarm(120)  // maximum duration
        do {
            // Detached: an application's work is not on the main thread, which wakes more slowly.
            let report = try await Task.detached { try await work(assignment) }.value
            print(report.line(for: assignment))
        } catch {
            complain(name, "\(error)")
            exit(1)
        }
    }

    private static func complain(_ name: String, _ text: String) {
        let line = "\(name): \(text)\n"
        _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
    }
}
