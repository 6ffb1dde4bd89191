import Glibc

/// The directory where a session puts files for which nobody named another: its own, and nobody else's business.
///
/// It is made with the first file. When the session and its last transfer are gone, so is the directory, unless it has
/// files that the application has not moved away.
package final class ResourceFolder: Sendable {
    private let made = Locked<String?>(nil)
    private let parent: String?

    /// In the system's temporary directory unless another is named.
    package init(in parent: String? = nil) { self.parent = parent }

    deinit {
        // One that is not empty stays, which is what is wanted.
        if let path = made.withLock({ $0 }) { unsafe rmdir(path) }
    }

    /// Makes the directory if it is not there (any more). Blocks.
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

    /// Whether it is still the directory that was made: a cleaner of old files may have removed it.
    private static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return false }
        return status.st_mode == S_IFDIR | 0o700 && status.st_uid == geteuid()
    }

    /// As the environment says, or `/tmp`.
    static func temporary() -> String {
        guard let value = unsafe getenv("TMPDIR") else { return "/tmp" }
        var path = unsafe String(cString: value)
        while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
        return path.hasPrefix("/") ? path : "/tmp"
    }
}
