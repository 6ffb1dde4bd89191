import Glibc

/// The library's side of `make bench`; Benchmarks/README.md describes what is measured.
@main
enum MultipeerBench {
    static func main() async {
        guard let assignment = Assignment(CommandLine.arguments) else {
            complain(
                "usage: MultipeerBench server|client MODE SIZE COUNT\nMODE: "
                    + Assignment.Mode.allCases.map(\.rawValue).joined(separator: " "))
            exit(64)
        }
        alarm(120)  // maximum duration
        do {
            // Detached: an application's work is not on the main thread, which wakes more slowly.
            let report = try await Task.detached { try await Work(assignment).run() }.value
            print(report.line(for: assignment))
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func complain(_ text: String) {
        let line = "MultipeerBench: \(text)\n"
        _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
    }
}
