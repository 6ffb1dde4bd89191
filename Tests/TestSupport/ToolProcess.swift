package import Foundation
import Glibc
import MultipeerTransport

/// A process of another program, whose output goes into files.
///
/// Unlike Foundation's `Process`, which learns of the end from a socket that other processes may inherit, this waits for
/// the process itself. A test that blocks one of the few threads of the tasks is therefore never held up by another one.
package final class ToolProcess: Sendable {
    package struct Ending: Sendable {
        /// The exit code, or 128 plus the number of the signal.
        package let code: Int32
        package let output: String
        package let errors: String
    }

    package struct NotStarted: Error {
        package let path: String
        package let code: Int32
    }

    /// A process that runs longer is killed, which makes its test fail.
    private static let timeLimit = DispatchTimeInterval.seconds(120)

    package let id: Int32
    private let folder: URL
    private let ending = Locked<Int32?>(nil)
    /// Keeps standard input open.
    private let input = Pipe()

    /// Starts the program.
    /// * `directory`: its working directory; that of this process when nil.
    /// * `input`: the beginning of its standard input, which then stays open; when nil, there is none.
    package init(
        _ path: String, _ arguments: [String], in directory: URL? = nil, environment: [String: String] = [:],
        input text: String? = nil
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "multipeer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let streams = try ["output", "errors"].map { [folder] name in
            let file = folder.appending(path: name)
            try Data().write(to: file)
            return try FileHandle(forWritingTo: file)
        }
        let reading = text == nil ? FileHandle.nullDevice : input.fileHandleForReading
        if let text { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }
        let words = directory.map { ["-C", $0.path, path] + arguments } ?? arguments
        let program = Program(
            directory == nil ? path : "/usr/bin/env", words,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        do throws(Program.NotStarted) {
            id = try program.start(with: [
                (reading.fileDescriptor, 0), (streams[0].fileDescriptor, 1), (streams[1].fileDescriptor, 2),
            ])
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw NotStarted(path: path, code: error.code)
        }
        for stream in streams { try? stream.close() }
        try? input.fileHandleForReading.close()
        // Not a task: all threads of the tasks may be waiting.
        DispatchQueue.global().asyncAfter(deadline: .now() + ToolProcess.timeLimit) { [weak self] in
            self?.kill()
        }
    }

    deinit {
        kill()
        wait()
        try? FileManager.default.removeItem(at: folder)
    }

    package func kill() { ending.withLock { if $0 == nil { _ = Glibc.kill(id, SIGKILL) } } }

    /// Waits for its end, and returns what it has written.
    @discardableResult
    package func wait() -> Ending {
        while ending.withLock({ $0 }) == nil {
            var information = unsafe siginfo_t()
            // The process stays a zombie until its end is noted, so that `kill` never signals another one.
            guard unsafe waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) == 0 || errno != EINTR
            else { continue }
            ending.withLock { known in
                guard known == nil else { return }
                var status: Int32 = 0
                _ = unsafe waitpid(id, &status, 0)
                known = Program.ending(status)
            }
        }
        return Ending(code: ending.withLock { $0 } ?? -1, output: output, errors: text(of: "errors"))
    }

    /// What it has written to standard output so far.
    package var output: String { text(of: "output") }

    private func text(of stream: String) -> String {
        let data = try? Data(contentsOf: folder.appending(path: stream))
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// Waits on a thread of its own.
    package func end() async -> Ending {
        let answer = Promise<Ending>()
        Thread { [self] in answer.send(wait()) }.start()
        return await answer.value(onCancel: { answer.send(Ending(code: -1, output: "", errors: "")) })
    }

    /// Runs the program to its end.
    @discardableResult
    package static func run(
        _ path: String, _ arguments: [String], in directory: URL? = nil, environment: [String: String] = [:]
    ) throws -> Ending {
        try ToolProcess(path, arguments, in: directory, environment: environment).wait()
    }

    /// Whether the program can be started, and exits with 0.
    package static func succeeds(_ path: String, _ arguments: [String]) -> Bool {
        (try? run(path, arguments))?.code == 0
    }
}
