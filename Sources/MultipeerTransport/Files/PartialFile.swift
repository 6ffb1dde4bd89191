import MultipeerCore
import MultipeerPlatform

/// Files and directories that exist only while something is received, and what a killed process has left of them.
///
/// Their owner holds a lock on each, which the kernel releases when the process ends, however that is. A later process removes
/// what has such a name, belongs to the same user and is not locked. It follows no links. Everything here blocks.
package enum PartialFile {
    package static let ending = ".part"
    /// The most entries that one sweep removes.
    private static let limit = 4_096

    package static func makeName() -> String { RandomName.make() + ending }

    /// Returns whether a file of this name may be removed as a part, so that nothing else is called so.
    package static func isReserved(_ name: String) -> Bool {
        UnfinishedFile.isName(name) || hasOurEnding(name)
    }

    /// Renames a complete file to a random name without the ending, and returns its path.
    package static func complete(_ path: String) throws(FileFault) -> String {
        let name: String
        if let start = withoutEnding(path) {
            name = String(start)
        } else if UnfinishedFile.isName(path) {
            name = FilePath(path).directory + RandomName.make()
        } else {
            return path
        }
        try FileRename.move(path, name, replacing: false)
        return name
    }

    /// Locks a file or directory that was just created at `name`. Returns false when a sweep has found it first. A file system
    /// without locks is no obstacle: a sweep gets none there either.
    static func lock(_ descriptor: borrowing Descriptor, at name: String, in folder: Int32) -> Bool {
        if flock(descriptor.number, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
        return isNamed(descriptor, name, in: folder)
    }

    /// Returns whether the name in the directory is still that of the open file.
    static func isNamed(_ descriptor: borrowing Descriptor, _ name: String, in folder: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        guard unsafe fstat(descriptor.number, &opened) == 0,
            unsafe fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
        else { return false }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }

    /// Removes the partial files in a directory whose owners are gone, but not what a transfer can go on with and is not older than
    /// `lifetime`.
    package static func sweep(
        _ directory: String, keeping lifetime: Duration = UnfinishedFile.standardLifetime
    ) {
        let folder = Descriptor(Descriptors.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard folder.number >= 0 else { return }
        sweep(folder.number)
        UnfinishedFile.sweep(folder.number, keeping: lifetime)
    }

    /// The same in a directory that is open.
    package static func sweep(
        _ directory: OpenDirectory, keeping lifetime: Duration = UnfinishedFile.standardLifetime
    ) {
        sweep(directory.number)
        UnfinishedFile.sweep(directory.number, keeping: lifetime)
    }

    private static func sweep(_ folder: Int32) {
        for name in names(in: folder, where: hasOurEnding) {
            remove(name, in: folder)
        }
    }

    /// Removes a file unless it is in use.
    static func remove(_ name: String, in folder: Int32) {
        _ = isAbandoned(name, in: folder, S_IFREG) { _ in unsafe unlinkat(folder, name, 0) }
    }

    /// Removes the directories in `parent` whose owners are gone, with their partial files. One with complete files stays:
    /// these belong to the application.
    static func sweepDirectories(in parent: String) {
        let folder = Descriptor(Descriptors.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        if folder.number < 0 { return }
        for name in names(in: folder.number, where: { isOurs($0[...]) }) {
            _ = isAbandoned(name, in: folder.number, S_IFDIR) { directory in
                sweep(directory)
                unsafe unlinkat(folder.number, name, AT_REMOVEDIR)
            }
        }
    }

    /// Returns whether an entry is of this kind, belongs to this user, is private if it is a directory, and has no living owner; if
    /// so, calls `body` while it is locked.
    private static func isAbandoned(
        _ name: String, in folder: Int32, _ kind: mode_t, _ body: (Int32) -> Void = { _ in }
    ) -> Bool {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let entry = Descriptor(Descriptors.open(name, in: folder, flags))
        var status = stat()
        guard entry.number >= 0, unsafe fstat(entry.number, &status) == 0,
            status.st_mode & S_IFMT == kind, status.st_uid == geteuid(),
            kind == S_IFREG || status.st_mode & 0o077 == 0,
            flock(entry.number, LOCK_EX | LOCK_NB) == 0, isNamed(entry, name, in: folder)
        else { return false }
        body(entry.number)
        return true
    }

    private static func hasOurEnding(_ name: String) -> Bool { withoutEnding(name).map(isOurs) ?? false }

    private static func withoutEnding(_ name: String) -> Substring? {
        name.ends(with: ending) ? Substring(name.utf8.dropLast(ending.utf8.count)) : nil
    }

    /// Returns whether it is a name of `RandomName`: two random numbers, which practically never have fewer than eight digits.
    private static func isOurs(_ name: Substring) -> Bool {
        let parts = name.pieces(at: "-", keepingEmpty: true)
        guard parts.count == 3, parts[0] == "multipeer" else { return false }
        return parts.dropFirst().allSatisfy { part in
            (8...13).contains(part.utf8.count)
                && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        }
    }

    /// Returns the first names that are wanted; none of a directory that cannot be read.
    static func names(in folder: Int32, where isWanted: (String) -> Bool) -> [String] {
        var names: [String] = []
        try? unsafe OpenDirectory.forEachName(in: folder, at: "") { bytes in
            let name = unsafe String(cString: bytes)
            if isWanted(name) { names.append(name) }
            return names.count < limit
        }
        return names
    }
}
