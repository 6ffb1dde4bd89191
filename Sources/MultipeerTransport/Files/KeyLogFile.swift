import Glibc
public import MultipeerSecurity

/// The file that TLS secrets are appended to, for a packet analyser, when the user asks for it.
package final class KeyLogFile: Sendable {
    private struct State: ~Copyable {
        let file: OpenFile
        var hasFailed = false
    }

    private let state: Locked<State>

    /// Appends to a file that is there, or makes one; from then on its owner alone can read it. One that belongs to
    /// somebody else is refused, as are links: the secrets would be theirs.
    package init(_ path: String) throws(FileFault) {
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
        let status = try file.status()
        guard status.st_uid == geteuid() else { throw FileFault(.permission, path: path) }
        if status.st_mode & 0o077 != 0 { try file.hide() }
        state = Locked(State(file: file))
    }

    /// One line, without its end. Throws when it cannot be written; after that no line is written any more, so that the
    /// file has no gaps.
    package func append(_ line: String) throws(FileFault) {
        try state.withLock { state throws(FileFault) in
            if state.hasFailed { return }
            do throws(FileFault) {
                try state.file.writeAll(Array((line + "\n").utf8))
            } catch {
                state.hasFailed = true
                throw error
            }
        }
    }
}

extension KeyLog {
    /// Appends to this file, in the format of `SSLKEYLOGFILE`, and lets its owner alone read it.
    ///
    /// Whoever gets to read the file reads everything that these sessions and invitations ever sent, with a capture of it.
    /// Make one while you look for a fault, and remove it.
    ///
    /// A full disk does not end the link that is being looked at: the file ends with the last line that could be
    /// written, and `onFailure` is told, once, on the session's own thread.
    ///
    /// Throws when the file cannot be opened, is a link, or belongs to somebody else.
    public init(file path: String, onFailure: @escaping @Sendable (any Error) -> Void) throws {
        let file = try KeyLogFile(path)
        self.init { line in
            do throws(FileFault) { try file.append(line) } catch { onFailure(error) }
        }
    }
}
