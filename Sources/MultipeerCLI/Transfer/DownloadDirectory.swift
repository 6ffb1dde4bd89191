import Foundation
import Multipeer
package import MultipeerCommandLine

/// The directory for received files. Each gets its own name only when it is complete.
package struct DownloadDirectory: Sendable {
    package let directory: String
    /// Whether existing files may be replaced.
    package let isForced: Bool
    /// If a name is taken at the last moment, a number up to this one is added.
    private static let mostNumbers = 999

    /// Throws when files cannot be written there.
    package init(_ directory: String, isForced: Bool) throws(CommandError) {
        var facts = stat()
        guard unsafe stat(directory, &facts) == 0 else {
            guard errno == ENOENT else { throw DescriptorStream.failure("cannot use \(directory.printable)") }
            throw CommandError("directory '\(directory.printable)' does not exist", exit: .system)
        }
        guard facts.st_mode & S_IFMT == S_IFDIR else {
            throw CommandError("\(directory.printable) is not a directory", exit: .system)
        }
        guard unsafe access(directory, W_OK | X_OK) == 0 else {
            throw DescriptorStream.failure("cannot write in \(directory.printable)")
        }
        self.directory = directory
        self.isForced = isForced
    }

    /// Returns why no file can be saved under this name; nil when one can. Symbolic links are not followed.
    package func obstacle(to name: String) -> String? {
        var facts = stat()
        guard unsafe lstat(path(name), &facts) == 0 else { return nil }
        if facts.st_mode & S_IFMT == S_IFDIR { return "a directory with this name exists" }
        return isForced ? nil : "already exists"
    }

    /// Renames a complete file within its file system, and returns the name: another one if the name was taken meanwhile. An
    /// existing file keeps its name, unless files may be replaced.
    package func settle(_ draft: String, as name: String) throws(CommandError) -> String {
        if isForced {
            guard unsafe rename(draft, path(name)) == 0 else { throw failure(name) }
            return name
        }
        if try take(draft, name) { return name }
        for number in 1...DownloadDirectory.mostNumbers {
            let other = FileName.numbered(name, number)
            if try take(draft, other) { return other }
        }
        throw CommandError("cannot write \(path(name).printable): every name is taken", exit: .system)
    }

    /// Returns false when the name is taken, also by a dangling symbolic link.
    private func take(_ draft: String, _ name: String) throws(CommandError) -> Bool {
        if unsafe link(draft, path(name)) == 0 {
            _ = unsafe unlink(draft)
            return true
        }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, EMLINK, ENOSYS: return try takeWithoutLinks(draft, name)
        default: throw failure(name)
        }
    }

    /// For file systems without hard links: creates an empty file with the name first, and replaces that.
    private func takeWithoutLinks(_ draft: String, _ name: String) throws(CommandError) -> Bool {
        let descriptor = unsafe open(path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return false }
            throw failure(name)
        }
        close(descriptor)
        guard unsafe rename(draft, path(name)) == 0 else {
            let commandError = failure(name)
            _ = unsafe unlink(path(name))
            throw commandError
        }
        return true
    }

    package func path(_ name: String) -> String { directory == "/" ? "/\(name)" : "\(directory)/\(name)" }

    private func failure(_ name: String) -> CommandError {
        DescriptorStream.failure("cannot write \(path(name).printable)")
    }
}
