import Foundation
import MultipeerPlatform
import MultipeerTransport

/// The process of the subject, with one socket to its standard input and output and one to its standard error.
final class ShimProcess {
    let id: Int32
    /// Its standard input and output.
    let talk: Int32
    /// Its standard error.
    let mutter: Int32
    private var status: Int32?

    /// Starts a shell command.
    init(_ command: String) throws(SuiteFault) {
        let (talk, talkEnd) = try ShimProcess.pair()
        let (mutter, mutterEnd) = try ShimProcess.pair()
        defer {
            _ = close(talkEnd)
            _ = close(mutterEnd)
        }
        (self.talk, self.mutter) = (talk, mutter)
        let environment = ProcessInfo.processInfo.environment.merging(["MULTIPEER_INTERFACES": "lo"]) { $1 }
        let shell = Program("/bin/sh", ["-c", "exec \(command)"], environment: environment)
        do throws(Program.NotStarted) {
            id = try shell.start(with: [(talkEnd, 0), (talkEnd, 1), (mutterEnd, 2)])
        } catch {
            throw .system("cannot start the shim", error.code)
        }
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

    /// Returns how it ended: its exit code, or 128 plus the number of the signal; nil while it runs.
    func poll() -> Int32? {
        if let status { return status }
        var code: Int32 = 0
        guard unsafe waitpid(id, &code, WNOHANG) == id else { return nil }
        status = Program.ending(code)
        return status
    }

    func signal(_ number: Int32) {
        if poll() == nil { _ = kill(id, number) }
    }

    /// Returns a socket pair. Several cases start processes at the same time, and `Program` lets none inherit that of another.
    private static func pair() throws(SuiteFault) -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, CLibrary.streamSocket, 0, &ends) == 0 else {
            throw .system("no pair of sockets", errno)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
