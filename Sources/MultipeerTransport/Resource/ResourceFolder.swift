import MultipeerCore
import MultipeerPlatform

/// The session's private directory for files for which no other was named.
///
/// It is created with the first file. When the session and its last transfer are gone, so is the directory, unless it contains
/// files that the application has not moved away. The first one of a process also removes those of processes that were killed.
package final class ResourceFolder: Sendable {
    private struct Made {
        var path: String?
        /// Locked, which shows other processes that the directory is in use.
        var directory: OpenDirectory?
    }

    private let made = Locked(Made())
    private static let swept = Locked<Set<FilePath>>([])
    private let parent: String?

    /// Uses the system's temporary directory unless `parent` names another.
    package init(in parent: String? = nil) { self.parent = parent }

    deinit {
        // A directory that is not empty stays, as intended.
        let (path, directory) = made.withLock { ($0.path, $0.directory) }
        if let path { unsafe rmdir(path) }
        withExtendedLifetime(directory) {}
    }

    /// Creates the directory if it does not, or no longer, exist. Blocks.
    package func path() throws(FileFault) -> String { try directory().path }

    /// The same, which is open.
    func directory() throws(FileFault) -> OpenDirectory {
        try made.withLock { [parent] made throws(FileFault) in
            if let path = made.path, let directory = made.directory, ResourceFolder.isPrivate(path) {
                return directory
            }
            let parent = parent ?? ResourceFolder.temporary()
            if ResourceFolder.isFirstUse(of: parent) {
                PartialFile.sweepDirectories(in: parent)
            }
            made = Made()
            let directory = try ResourceFolder.make(in: parent)
            made = Made(path: directory.path, directory: directory)
            return directory
        }
    }

    /// Returns whether this process has not used the directory before: then what other processes have left in it is removed.
    static func isFirstUse(of path: String) -> Bool { swept.withLock { $0.insert(FilePath(path)).inserted } }

    private static func make(in parent: String) throws(FileFault) -> OpenDirectory {
        for _ in 0..<16 {
            let path = "\(parent)/\(RandomName.make())"
            if unsafe mkdir(path, 0o700) == 0 {  // [resource.private]
                do throws(FileFault) {
                    let directory = try OpenDirectory(path, isItself: true)
                    // If not, the sweep of another process came in between.
                    if directory.lock() { return directory }
                } catch {
                    // The same if it is gone.
                    if error.reason == .notFound { continue }
                    unsafe rmdir(path)
                    throw error
                }
            } else if errno != EEXIST {
                throw FileFault(lastAt: parent)
            }
        }
        throw FileFault(.other(EEXIST), path: parent)
    }

    /// Returns whether it is still a directory that is this user's alone: a cleaner of old files may have removed it. It may have got
    /// the group of its parent, and a bit that says so.
    static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o077 == 0
            && status.st_uid == geteuid()
    }

    /// Returns the directory of the environment, or `/tmp`.
    static func temporary() -> String {
        guard let value = unsafe getenv("TMPDIR") else { return "/tmp" }
        let path = unsafe FilePath(String(cString: value))
        return path.isAbsolute ? path.withoutEnd : "/tmp"
    }
}
