import Glibc
public import MultipeerSecurity

/// The file that TLS secrets are appended to, for a packet analyser, when the user asks for it.
package final class KeyLogFile: Sendable {
    private let file: Locked<OpenFile>

    /// Appends to a file that is there, or makes one that its owner alone can read. One that belongs to somebody else
    /// is refused, as are links: the secrets would be theirs.
    package init(_ path: String) throws(FileFault) {
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
        guard try file.status().st_uid == geteuid() else { throw FileFault(.permission, path: path) }
        self.file = Locked(file)
    }

    /// One line, without its end.
    package func append(_ line: String) throws(FileFault) {
        try file.withLock { file throws(FileFault) in try file.writeAll(Array((line + "\n").utf8)) }
    }
}

extension KeyLog {
    /// Appends to this file, in the format of `SSLKEYLOGFILE`; a line that cannot be written is left out.
    ///
    /// Throws when the file cannot be opened, is a link, or belongs to somebody else.
    public init(file path: String) throws {
        let file = try KeyLogFile(path)
        self.init { line in
            // A full disk must not end the link that is being looked at.
            do throws(FileFault) { try file.append(line) } catch {}
        }
    }
}
