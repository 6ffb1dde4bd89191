import Foundation
import Multipeer

/// A process that this one started, with pipes to its standard streams. Whoever starts it waits for it.
package final class ChildProcess: Sendable {
    package let id: Int32
    /// What the process reads.
    package let input: Stream
    /// What the process writes.
    package let output: Stream
    /// What it writes to standard error; nil when that goes where ours goes.
    package let error: Stream?
    private let status = Locked<Int32?>(nil)
    /// Between making a pipe and marking its ends, no other process may be started: it would keep them open.
    private static let starting = Locked(())

    /// Starts a program; its environment is ours with `changes`.
    package init(
        _ path: String, _ arguments: [String], environment changes: [String: String] = [:],
        catchingErrors: Bool = false
    ) throws(Complaint) {
        let (read, input) = try ChildProcess.pipe("standard input of \(path)")
        let (output, write) = try ChildProcess.pipe("standard output of \(path)")
        let errors = catchingErrors ? try ChildProcess.pipe("standard error of \(path)") : nil
        var ends: [(Stream, Int32)] = [(read, 0), (write, 1)]
        if let errors { ends.append((errors.write, 2)) }
        defer { for (end, _) in ends { end.close() } }
        let environment = ProcessInfo.processInfo.environment.merging(changes) { $1 }.map { "\($0)=\($1)" }
        (self.input, self.output, error) = (input, output, errors?.read)
        id = try ChildProcess.starting.withLock { [ends] _ throws(Complaint) in
            try ChildProcess.spawn(path, [path] + arguments, environment, ends)
        }
    }

    /// Waits for its end: its exit code, or 128 and the number of the signal that killed it.
    @discardableResult
    package func wait() -> Int32 {
        var code: Int32 = 0
        while true {
            if let known = status.withLock({ $0 }) { return known }
            let ended = unsafe waitpid(id, &code, 0)
            guard ended == id else { continue }
            let result = code & 0x7f == 0 ? (code >> 8) & 0xff : 128 + (code & 0x7f)
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

    private static func pipe(_ name: String) throws(Complaint) -> (read: Stream, write: Stream) {
        var ends: [Int32] = [0, 0]
        let isMade = starting.withLock { _ in
            guard unsafe Glibc.pipe(&ends) == 0 else { return false }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return true
        }
        guard isMade else { throw Stream.failure("cannot make a pipe") }
        return (Stream(descriptor: ends[0], name: name), Stream(descriptor: ends[1], name: name))
    }

    /// With no signal blocked or ignored: what this process did about signals is its own business.
    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String], _ streams: [(Stream, Int32)]
    ) throws(Complaint) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for (stream, place) in streams {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream.descriptor, place)
        }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var id: pid_t = 0
        let code = unsafe posix_spawn(&id, path, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw Stream.failure("cannot start \(path.printable)", code) }
        return id
    }
}

extension ChildProcess {
    /// The program that is running.
    package static var ownPath: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
    }
}
