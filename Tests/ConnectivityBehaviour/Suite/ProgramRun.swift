import Foundation
import Glibc
import TestSupport

/// One run of a program: its two applications as processes, on loopback, under a service type of their own.
struct ProgramRun: CustomStringConvertible {
    private let id: String
    private let left: ProgramProcess.Ending
    private let right: ProgramProcess.Ending

    /// Whether both applications observed everything that must happen.
    var isSuccess: Bool { left.code == 0 && right.code == 0 }

    /// The output of both.
    var description: String { "\(id)\n-- left: \(left)\n-- right: \(right)" }

    init(_ id: String) async throws {
        self.id = id
        let folder = FileManager.default.temporaryDirectory.appending(path: "behaviour-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        for role in ["left", "right"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: role), withIntermediateDirectories: true)
            _ = unsafe mkfifo(folder.appending(path: "to-\(role)").path, 0o600)
        }
        let type = "t" + UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(12)
        let left = try ProgramProcess(id, "left", type, folder)
        let right = try ProgramProcess(id, "right", type, folder)
        let alarm = Task {
            try await Task.sleep(for: .seconds(90))
            for process in [left, right] { process.kill() }
        }
        defer { alarm.cancel() }
        async let endingOfLeft = left.ending(with: right)
        async let endingOfRight = right.ending(with: left)
        (self.left, self.right) = await (endingOfLeft, endingOfRight)
    }
}

/// One application of a program, as a process.
final class ProgramProcess: Sendable {
    struct Ending: CustomStringConvertible {
        let code: Int32
        let output: String

        var description: String { "exit code \(code)\n\(output)" }
    }

    private let process: ToolProcess

    init(_ id: String, _ role: String, _ type: String, _ folder: URL) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: own).deletingLastPathComponent().appending(path: "MultipeerBehaviour")
        // A process exits with what it holds, which the leak sanitizer cannot see in Foundation's `Data`.
        process = try ToolProcess(
            program.path, [id, role, type, folder.path],
            environment: [
                "MULTIPEER_INTERFACES": "lo", "SWIFT_BACKTRACE": "enable=no",
                "LSAN_OPTIONS": "detect_leaks=0",
            ])
    }

    func kill() { process.kill() }

    /// Waits for the end. After a crash, ends the other process, which would wait to its timeout.
    func ending(with other: ProgramProcess) async -> Ending {
        let ending = await process.end()
        if ending.code != 0, ending.code != 1 { other.kill() }
        return Ending(code: ending.code, output: ending.output + ending.errors)
    }
}
