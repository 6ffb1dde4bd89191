import Glibc

/// The session's private directory for files for which no other was named.
///
/// It is created with the first file. When the session and its last transfer are gone, so is the directory, unless it contains
/// files that the application has not moved away.
package final class ResourceFolder: Sendable {
    private let made = Locked<String?>(nil)
    private let parent: String?

    /// Uses the system's temporary directory unless `parent` names another.
    package init(in parent: String? = nil) { self.parent = parent }

    deinit {
        // A directory that is not empty stays, as intended.
        if let path = made.withLock({ $0 }) { unsafe rmdir(path) }
    }

    /// Creates the directory if it does not, or no longer, exist. Blocks.
    package func path() throws(FileFault) -> String {
        try made.withLock { [parent] made throws(FileFault) in
            if let path = made, ResourceFolder.isPrivate(path) { return path }
            let path = try ResourceFolder.make(in: parent ?? ResourceFolder.temporary())
            made = path
            return path
        }
    }

    private static func make(in parent: String) throws(FileFault) -> String {
        for _ in 0..<16 {
            let path = "\(parent)/\(RandomName.make())"
            if unsafe mkdir(path, 0o700) == 0 { return path }  // [resource.private]
            if errno != EEXIST { throw FileFault(lastAt: parent) }
        }
        throw FileFault(.other(EEXIST), path: parent)
    }

    /// Returns whether it is still the directory that was created: a cleaner of old files may have removed it.
    private static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode == S_IFDIR | 0o700 && status.st_uid == geteuid()
    }

    /// Returns the directory of the environment, or `/tmp`.
    static func temporary() -> String {
        guard let value = unsafe getenv("TMPDIR") else { return "/tmp" }
        var path = unsafe String(cString: value)
        while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
        return path.hasPrefix("/") ? path : "/tmp"
    }
}
