import MultipeerEssentials

/// A process that this one started, with pipes to its standard streams. The caller has to wait for its end.
package final class ChildProcess: Sendable {
    package let id: Int32
    /// The standard input of the process.
    package let input: DescriptorStream
    /// The standard output of the process.
    package let output: DescriptorStream
    /// The standard error of the process; nil when it is inherited.
    package let error: DescriptorStream?
    private let status = Locked<Int32?>(nil)
    /// Between creating a pipe and setting close-on-exec, no other process may be started: it would keep the ends open.
    private static let starting = Locked(())

    /// Starts a program, in the environment of this process with `changes`.
    package init(
        _ path: String, _ arguments: [String], environment changes: [String: String] = [:],
        catchingErrors: Bool = false
    ) throws(CommandError) {
        let (read, input) = try ChildProcess.pipe("standard input of \(path)")
        let (output, write) = try ChildProcess.pipe("standard output of \(path)")
        let errors = catchingErrors ? try ChildProcess.pipe("standard error of \(path)") : nil
        var ends: [(DescriptorStream, Int32)] = [(read, 0), (write, 1)]
        if let errors { ends.append((errors.write, 2)) }
        defer { for (end, _) in ends { end.close() } }
        let environment = Environment.all.merging(changes) { $1 }
        let program = Program(path, arguments, environment: environment)
        (self.input, self.output, error) = (input, output, errors?.read)
        id = try ChildProcess.starting.withLock { [ends] _ throws(CommandError) in
            do throws(Program.NotStarted) {
                return try program.start(with: ends.map { ($0.descriptor, $1) })
            } catch {
                throw DescriptorStream.failure("cannot start \(path.printable)", error.code)
            }
        }
    }

    /// Waits for its end; returns its exit code, or 128 plus the number of the signal that killed it.
    @discardableResult
    package func wait() -> Int32 {
        var code: Int32 = 0
        while true {
            if let known = status.withLock({ $0 }) { return known }
            let ended = unsafe waitpid(id, &code, 0)
            guard ended == id else { continue }
            let result = Program.ending(code)
            status.withLock { $0 = result }
        }
    }

    /// Sends a signal, unless the process has ended and was waited for.
    package func signal(_ number: Int32) {
        status.withLock { if $0 == nil { _ = kill(id, number) } }
    }

    package func closeStreams() {
        for stream in [input, output] + (error.map { [$0] } ?? []) { stream.close() }
    }

    private static func pipe(_ name: String) throws(CommandError) -> (
        read: DescriptorStream, write: DescriptorStream
    ) {
        let ends = starting.withLock { _ in Descriptors.pipe() }
        guard let ends else { throw DescriptorStream.failure("cannot create a pipe") }
        return (
            DescriptorStream(descriptor: ends.reading, name: name),
            DescriptorStream(descriptor: ends.writing, name: name)
        )
    }
}

extension ChildProcess {
    /// The path of the running program.
    package static var ownPath: String {
        FileSystem.target(ofLink: "/proc/self/exe") ?? Environment.words.first.flatMap(\.self) ?? ""
    }
}
