import MultipeerCore
import MultipeerPlatform

/// A directory that is held open: what is created, renamed or read in it stays in it, wherever its path leads meanwhile.
///
/// A name is one component of a path; anything else is refused. No symbolic link in the directory is followed. Everything here
/// blocks.
///
/// All that are the same directory share one descriptor, so that any number of transfers into it need one.
package final class OpenDirectory: Sendable {
    private let shared: SharedDirectory
    /// For messages.
    package let path: String

    var number: Int32 { shared.descriptor.number }

    private init(_ shared: SharedDirectory, path: String) {
        self.shared = shared
        self.path = path
    }

    /// Opens a directory that the user of this machine named, which may be reached over links, unless `isItself`.
    package convenience init(_ path: String, isItself: Bool = false) throws(FileFault) {
        if path.utf8.contains(0) { throw FileFault(.notFound, path: path) }
        guard let shared = SharedDirectory.open(path, in: AT_FDCWD, following: !isItself) else {
            throw FileFault(lastAt: path)
        }
        self.init(shared, path: path)
    }

    /// Opens a directory in this one.
    package func directory(_ name: String) throws(FileFault) -> OpenDirectory {
        let path = try path(of: name)
        guard let shared = SharedDirectory.open(name, in: number, following: false) else {
            // What Linux says about a link, and about a file.
            if errno == ENOTDIR || errno == ELOOP { throw FileFault(.other(ENOTDIR), path: path) }
            throw FileFault(lastAt: path)
        }
        return OpenDirectory(shared, path: path)
    }

    /// Locks it, as one that was just created at its path. Returns false when a sweep has found it first.
    func lock() -> Bool { PartialFile.lock(shared.descriptor, at: path, in: AT_FDCWD) }

    /// Creates a directory that only its owner can use. Returns false if there is something of that name.
    package func create(_ name: String) throws(FileFault) -> Bool {
        let path = try path(of: name)
        if unsafe mkdirat(number, name, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw FileFault(lastAt: path) }
        return false
    }

    /// Opens a regular file.
    package func file(_ name: String) throws(FileFault) -> FileSource {
        let path = try path(of: name)
        var status = stat()
        guard unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw FileFault(lastAt: path)
        }
        // Opening a device may already have an effect.
        try FileSource.check(status, path)
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        return try FileSource(Descriptor(Descriptors.open(name, in: number, flags)), path)
    }

    /// Returns what has this name; nil for nothing.
    package func entry(_ name: String) -> Entry? {
        var status = stat()
        guard OpenDirectory.isComponent(name),
            unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        else { return nil }
        return Entry(name: name, status)
    }

    /// Gives a file or directory another name in this directory. Returns false, and does nothing, when the name is taken.
    package func rename(_ name: String, toNew other: String) throws(FileFault) -> Bool {
        let path = try (path(of: name), path(of: other)).1
        do throws(FileFault) {
            return try FileRename.toNew(name, other, in: number)
        } catch {
            throw FileFault(error.reason, path: path)
        }
    }

    /// Gives a file another name in this directory; a file or link of that name is replaced, a directory never.
    package func rename(_ name: String, replacing other: String) throws(FileFault) {
        let path = try (path(of: name), path(of: other)).1
        guard unsafe renameat(number, name, number, other) == 0 else { throw FileFault(lastAt: path) }
    }

    /// Removes a file.
    package func remove(_ name: String) throws(FileFault) {
        let path = try path(of: name)
        guard unsafe unlinkat(number, name, 0) == 0 else { throw FileFault(lastAt: path) }
    }

    /// Removes a file that may be gone already.
    package func withdraw(_ name: String) { unsafe unlinkat(number, name, 0) }

    /// Sets when a file was modified, and lets its owner execute it if `isExecutable`. No other permission is added. Returns whether
    /// that is so: a file system may have no such bit, and the file is no worse for it.
    package func set(_ name: String, modified: FileTime?, isExecutable: Bool) throws(FileFault) -> Bool {
        let path = try path(of: name)
        var isDone = true
        if isExecutable {
            let file = Descriptor(
                Descriptors.open(name, in: number, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
            guard file.number >= 0 || errno == EACCES || errno == EPERM else { throw FileFault(lastAt: path) }
            isDone = file.number >= 0 && OpenDirectory.makeExecutable(file.number)
        }
        guard let modified else { return isDone }
        let now = timespec(tv_sec: 0, tv_nsec: CLibrary.timeNow)
        let times = [now, timespec(tv_sec: Int(modified.seconds), tv_nsec: Int(modified.nanoseconds))]
        // A file system may know no time as early or late as this; the file is no worse for it.
        _ = unsafe utimensat(number, name, times, AT_SYMLINK_NOFOLLOW)
        return isDone
    }

    /// Lets its owner execute a file. Returns whether it can be executed then.
    static func makeExecutable(_ file: Int32) -> Bool {
        _ = fchmod(file, 0o700)
        var status = stat()
        return unsafe fstat(file, &status) == 0 && status.st_mode & 0o100 != 0
    }

    /// Returns all entries but `.` and `..`, sorted by their names.
    package func entries() throws(FileFault) -> [Entry] {
        var entries: [Entry] = []
        try unsafe OpenDirectory.forEachName(in: number, at: path) { bytes in
            var status = stat()
            let isThere = unsafe fstatat(number, bytes, &status, AT_SYMLINK_NOFOLLOW) == 0
            if let name = unsafe String(validatingCString: bytes) {
                if isThere, name != ".", name != ".." { entries.append(Entry(name: name, status)) }
            } else {
                entries.append(Entry(name: unsafe String(cString: bytes), kind: .unnamed))
            }
            return true
        }
        return entries.sorted { $0.name < $1.name }
    }

    /// Calls `body` with the name of each entry until it returns false. `path`: for messages.
    static func forEachName(
        in folder: Int32, at path: String, _ body: (UnsafePointer<CChar>) -> Bool
    ) throws(FileFault) {
        // The directory stream owns its descriptor, so it gets one of its own.
        let copy = Descriptors.open(".", in: folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw FileFault(lastAt: path) }
        guard let stream = unsafe fdopendir(copy) else {
            let fault = FileFault(lastAt: path)
            close(copy)
            throw fault
        }
        defer { unsafe closedir(stream) }
        guard let place = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
        while let entry = unsafe readdir(stream) {
            // A record ends with its name: the last one in the buffer is shorter than its type says.
            let start = unsafe UnsafeRawPointer(entry).advanced(by: place)
            if unsafe !body(start.assumingMemoryBound(to: CChar.self)) { return }
        }
    }

    func path(of name: String) throws(FileFault) -> String {
        let whole = whole(name)
        guard OpenDirectory.isComponent(name) else { throw FileFault(.notFound, path: whole) }
        return whole
    }

    /// The same for one that is not shown.
    func check(_ name: String) throws(FileFault) {
        guard OpenDirectory.isComponent(name) else { throw FileFault(.notFound, path: whole(name)) }
    }

    private func whole(_ name: String) -> String { FilePath(path).appending(name) }

    private static func isComponent(_ name: String) -> Bool {
        !["", ".", ".."].contains(name) && !name.utf8.contains(0) && !name.utf8.contains(UInt8(ascii: "/"))
    }
}

extension OpenDirectory {
    /// One entry of a directory.
    package struct Entry: Equatable, Sendable {
        package enum Kind: Equatable, Sendable {
            case file(size: UInt64, modified: FileTime, isExecutable: Bool)
            case directory
            case link
            /// A socket, a device or a FIFO.
            case other
            /// Something whose name is not UTF-8.
            case unnamed
        }

        package let name: String
        package let kind: Kind
    }
}

extension OpenDirectory.Entry {
    fileprivate init(name: String, _ status: stat) {
        self.name = name
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG:
                .file(
                    size: UInt64(clamping: status.st_size),
                    modified: FileTime(
                        seconds: Int64(status.modified.tv_sec), nanoseconds: Int64(status.modified.tv_nsec)),
                    isExecutable: status.st_mode & 0o100 != 0)
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
    }
}
