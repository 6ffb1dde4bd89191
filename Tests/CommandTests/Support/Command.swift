import Foundation
import MultipeerTransport
import MultipeerCLI
import MultipeerCommandLine
import Testing

/// The program under test in its own process. Its output is read when a test waits for something in it.
final class Command: Sendable {
    struct Ending: Sendable {
        let code: Int32
        let output: [UInt8]
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
        /// The messages on standard error, without connection data.
        var errorLines: [Substring] {
            errors.split(separator: "\n").filter { $0.contains(" ") }
        }
    }

    /// Has no configuration, identity or trust store, and none is created there.
    private static let home = "/dev/null"
    /// A process that runs longer is killed, which makes its test fail.
    private static let timeLimit = DispatchTimeInterval.seconds(60)

    let process: ChildProcess
    private let waiting = Worker("end")
    private let reading = Worker("output")
    private let noticing = Worker("errors")
    private let writing = Worker("input")
    private let noticed = Gathered()
    private let printed = Gathered()
    private let closed = Locked<Set<Int32>>([])

    init(
        _ arguments: [String], program: String = "multipeer", environment: [String: String] = [:],
        through wrapper: [String] = []
    ) throws {
        // Writing to a process that has ended is an error, and must not end the tests.
        _ = signal(SIGPIPE, SIG_IGN)
        let words = wrapper + [try Command.path(of: program)] + arguments
        process = try ChildProcess(
            words[0], Array(words.dropFirst()),
            environment: [
                "SSLKEYLOGFILE": "", "MULTIPEER_INTERFACES": "lo", "HOME": Command.home,
                "XDG_CONFIG_HOME": "",
            ].merging(environment) { $1 },
            catchingErrors: true)
        // Not a task: all threads of the tasks may be waiting for processes.
        DispatchQueue.global().asyncAfter(deadline: .now() + Command.timeLimit) { [process] in
            process.signal(SIGKILL)
        }
    }

    /// Kills the process and reaps it: a zombie would keep the library's own tests of processes from seeing theirs.
    deinit {
        process.signal(SIGKILL)
        waiting.post { [process] in process.wait() }
        // Each stream is closed by the thread that uses it, after the work that is queued there.
        close(process.input, on: writing)
        close(process.output, on: reading)
        if let error = process.error { close(error, on: noticing) }
    }

    /// Closes the stream; only the first call has an effect.
    private func close(_ stream: MultipeerCommandLine.DescriptorStream, on worker: Worker) {
        let isFirst = closed.withLock { $0.insert(stream.descriptor).inserted }
        if isFirst { worker.post { stream.close() } }
    }

    /// Closes the reading end of standard output, as if its reader were gone.
    func closeOutput() { close(process.output, on: reading) }

    /// Runs the program to its end.
    static func run(
        _ arguments: String..., program: String = "multipeer", input: [UInt8] = [],
        environment: [String: String] = [:]
    ) async throws -> Ending {
        let command = try Command(arguments, program: program, environment: environment)
        return try await command.finish(input)
    }

    /// The binary beside the test bundle.
    private static func path(of program: String) throws -> String {
        let folder = URL(filePath: ChildProcess.ownPath).deletingLastPathComponent()
        let path = folder.appending(path: program).path
        try #require(FileManager.default.isExecutableFile(atPath: path), "\(path) was not built")
        return path
    }

    /// Writes to standard input, which stays open.
    func send(_ bytes: [UInt8]) async throws {
        try await writing.run { [process] () throws(CommandError) in try process.input.write(bytes) }
    }

    /// Waits for a line on standard error that contains `text`; false when standard error ends without it.
    func says(_ text: String) async throws -> Bool {
        try await noticing.run { [process, noticed] () throws(CommandError) in
            while let line = try process.error?.readLine() {
                noticed.add(line)
                if line.contains(text) { return true }
            }
            return false
        }
    }

    /// Waits until standard error has had lines that contain these texts, in any order. Returns the texts that were
    /// missing.
    func says(all texts: [String]) async throws -> [String] {
        try await noticing.run { [process, noticed] () throws(CommandError) in
            var missing = texts
            while !missing.isEmpty, let line = try process.error?.readLine() {
                noticed.add(line)
                missing.removeAll(where: line.contains)
            }
            return missing
        }
    }

    /// Waits for a line on standard output that contains `text`; false when standard output ends without it.
    func prints(_ text: String) async throws -> Bool {
        try await reading.run { [process, printed] () throws(CommandError) in
            while let line = try process.output.readLine() {
                printed.add(line)
                if line.contains(text) { return true }
            }
            return false
        }
    }

    /// The output that was read so far, for the message of a failed test.
    var written: String { printed.text + noticed.text }

    /// Suspends the process. Returns once all of its threads have stopped, which takes a while on a busy machine: until then it
    /// reads and answers.
    func suspend() async throws {
        process.signal(SIGSTOP)
        let id = id_t(process.id)
        try await noticing.run {
            var information = unsafe siginfo_t()
            while unsafe waitid(P_PID, id, &information, WSTOPPED | WNOWAIT) != 0, errno == EINTR {}
        }
    }

    func firstLine() async throws -> String {
        try await reading.run { [process] () throws(CommandError) in try process.output.readLine() } ?? ""
    }

    /// Writes the same piece again and again until the process has read nothing for half a second. Returns the number
    /// of bytes written.
    func sendsUntilStalled(_ piece: [UInt8], most: Int) async throws -> Int {
        let descriptor = process.input.descriptor
        return try await writing.run { [process] () throws(CommandError) in
            var sent = 0
            while sent < most {
                var one = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&one, 1, 500) == 1 else { break }
                // A pipe that is ready for writing has room for this many bytes.
                try process.input.write(Array(piece.prefix(4_096)))
                sent += min(4_096, piece.count)
            }
            return sent
        }
    }

    /// Sends the rest of the input, reads all output and waits for the process to end.
    func finish(_ input: [UInt8]? = []) async throws -> Ending {
        async let output = reading.run { [process] () throws(CommandError) in
            var bytes: [UInt8] = []
            while let more = try process.output.read(65_536) { bytes += more }
            return bytes
        }
        if let input {
            // A process that has ended reads no more input; its exit code says why.
            try? await send(input)
            close(process.input, on: writing)
        }
        _ = try await says("nothing that is ever said")
        let code = await (try waiting.run { [process] () throws(CommandError) in process.wait() })
        return Ending(code: code, output: try await output, errors: noticed.text)
    }
}

/// The lines read from a stream.
private final class Gathered: Sendable {
    private let lines = Locked<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    var text: String { lines.withLock { $0.map { "\($0)\n" }.joined() } }
}
