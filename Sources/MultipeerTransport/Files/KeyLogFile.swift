import MultipeerPlatform
public import MultipeerSecurity

/// The file that TLS secrets are appended to, for a packet analyser, at the user's request.
package final class KeyLogFile: Sendable {
    private struct State: ~Copyable {
        let file: OpenFile
        var hasFailed = false
    }

    private let state: Locked<State>

    /// Opens an existing file for appending, or creates one; from then on only its owner can read it. A file of another user is
    /// refused, as are links: that user could read the secrets.
    package init(_ path: String) throws(FileFault) {
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
        let status = try file.status()
        guard status.st_uid == geteuid() else { throw FileFault(.permission, path: path) }
        if status.st_mode & 0o077 != 0 { try file.hide() }
        state = Locked(State(file: file))
    }

    /// Appends one line, given without its end. Throws when it cannot be written; after that no further line is written, so that
    /// the file has no gaps.
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
    /// Appends to this file, in the format of `SSLKEYLOGFILE`, and makes it readable by its owner only.
    ///
    /// Anyone who has the file and a capture of the traffic can read everything that these sessions and invitations ever sent.
    /// Create it while you look for a fault, and remove it afterwards.
    ///
    /// A full disk does not end the link under inspection: the file ends with the last line that could be written, and
    /// `onFailure` is called, once, on the session's own thread.
    ///
    /// Throws when the file cannot be opened, is a link, or belongs to another user.
    public init(file path: String, onFailure: @escaping @Sendable (any Error) -> Void) throws {
        let file = try KeyLogFile(path)
        self.init { line in
            do throws(FileFault) { try file.append(line) } catch { onFailure(error) }
        }
    }
}
