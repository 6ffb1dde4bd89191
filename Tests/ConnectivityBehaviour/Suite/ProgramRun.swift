import Foundation
import Glibc
import MultipeerTransport

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

    private let process: Locked<Process>
    private let output: URL
    private let code = Promise<Int32>()

    init(_ id: String, _ role: String, _ type: String, _ folder: URL) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        output = folder.appending(path: "\(role).txt")
        try Data().write(to: output)
        let handle = try FileHandle(forWritingTo: output)
        let process = Process()
        process.executableURL = URL(filePath: own).deletingLastPathComponent()
            .appending(path: "MultipeerBehaviour")
        process.arguments = [id, role, type, folder.path]
        // A process exits with what it holds, which the leak sanitizer cannot see in Foundation's `Data`.
        process.environment = ProcessInfo.processInfo.environment.merging([
            "MULTIPEER_INTERFACES": "lo", "SWIFT_BACKTRACE": "enable=no", "LSAN_OPTIONS": "detect_leaks=0",
        ]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        process.terminationHandler = { [code] process in
            code.send(
                process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
        }
        try process.run()
        self.process = Locked(process)
    }

    func kill() { process.withLock { if $0.isRunning { Glibc.kill($0.processIdentifier, SIGKILL) } } }

    /// Waits for the end. After a crash, ends the other process, which would wait to its timeout.
    func ending(with other: ProgramProcess) async -> Ending {
        let code = await code.value()
        if code != 0, code != 1 { other.kill() }
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return Ending(code: code, output: text)
    }
}
