import Foundation
import Glibc

/// The process of the subject, with one socket to its standard input and output and one to its standard error.
final class ShimProcess {
    let id: Int32
    /// Its standard input and output.
    let talk: Int32
    /// Its standard error.
    let mutter: Int32
    private var status: Int32?

    /// Starts a command line of the shell.
    init(_ command: String) throws(SuiteFault) {
        let (talk, talkEnd) = try ShimProcess.pair()
        let (mutter, mutterEnd) = try ShimProcess.pair()
        defer {
            _ = close(talkEnd)
            _ = close(mutterEnd)
        }
        (self.talk, self.mutter) = (talk, mutter)
        id = try ShimProcess.spawn(["/bin/sh", "-c", "exec \(command)"], talkEnd, mutterEnd)
    }

    deinit {
        if status == nil {
            _ = kill(id, SIGKILL)
            var code: Int32 = 0
            _ = unsafe waitpid(id, &code, 0)
        }
        _ = close(talk)
        _ = close(mutter)
    }

    /// How it ended: its exit code, or 128 and the number of the signal; nil while it runs.
    func poll() -> Int32? {
        if let status { return status }
        var code: Int32 = 0
        guard unsafe waitpid(id, &code, WNOHANG) == id else { return nil }
        status = code & 0x7f == 0 ? (code >> 8) & 0xff : 128 + (code & 0x7f)
        return status
    }

    func signal(_ number: Int32) {
        if poll() == nil { _ = kill(id, number) }
    }

    /// Closed on exec from the first moment on: several cases start processes at the same time.
    private static func pair() throws(SuiteFault) -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw .system("no pair of sockets", errno)
        }
        return (ends[0], ends[1])
    }

    private static func spawn(_ words: [String], _ talk: Int32, _ mutter: Int32) throws(SuiteFault) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for (descriptor, place) in [(talk, Int32(0)), (talk, 1), (mutter, 2)] {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, place)
        }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let surroundings = ProcessInfo.processInfo.environment.merging(["MULTIPEER_INTERFACES": "lo"]) { $1 }
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe surroundings.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var id: pid_t = 0
        let code = unsafe posix_spawn(&id, words[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw .system("cannot start the shim", code) }
        return id
    }
}
