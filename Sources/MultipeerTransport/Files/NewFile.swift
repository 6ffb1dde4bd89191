import MultipeerPlatform

/// A whole file that gets its name in one step: no process ever sees a part of it under that name, whenever this one ends.
package struct NewFile: Sendable {
    package var modified: FileTime?
    /// Whether its owner may execute it. No one else gets any permission. [resource.private]
    package var isExecutable = false
    /// Called if it cannot be executed nevertheless: a file system may have no such bit.
    package var onLostPermission: @Sendable () -> Void = {}
    /// Whether it replaces a file or link of that name, but never a directory.
    package var isReplacing = false
    /// Whether it is on disk when this returns; its directory is not.
    package var isSynchronized = false

    package init() {}
}

extension OpenDirectory {
    /// Creates a file with these bytes, for its owner alone. Returns false, and does nothing, when the name is taken and the file does
    /// not replace what has it. Blocks.
    package func create(
        _ name: String, _ contents: ArraySlice<UInt8>, as new: NewFile
    ) throws(FileFault) -> Bool {
        try check(name)
        // A file without a name needs no lock against those who remove parts, and vanishes with this process.
        let draft = Descriptor(SystemCalls.openUnnamed(in: number))
        guard draft.number >= 0 else {
            // What file systems and systems without such files say.
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) else { throw FileFault(lastAt: path) }
            return try createNamed(name, contents, new)
        }
        try OpenDirectory.fill(draft.number, contents, new, path)
        if SystemCalls.name(draft.number, name, in: number) { return true }
        if errno == EEXIST, !new.isReplacing { return false }
        // Where it can get no name, and where a file has to be replaced.
        guard [EEXIST, ENOENT, EACCES, EPERM].contains(errno) else { throw FileFault(lastAt: path) }
        return try createNamed(name, contents, new)
    }

    /// Writes the file under the name of a part first.
    private func createNamed(
        _ name: String, _ contents: ArraySlice<UInt8>, _ new: NewFile
    ) throws(FileFault) -> Bool {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let draft = PartialFile.makeName()
        let file = Descriptor(Descriptors.open(draft, in: number, flags, 0o600))
        guard file.number >= 0 else { throw FileFault(lastAt: path) }
        guard PartialFile.lock(file, at: draft, in: number) else {
            throw FileFault(.other(EEXIST), path: path)
        }
        do throws(FileFault) {
            try OpenDirectory.fill(file.number, contents, new, path)
            if new.isReplacing {
                try rename(draft, replacing: name)
                return true
            }
            if try rename(draft, toNew: name) { return true }
        } catch {
            unsafe unlinkat(number, draft, 0)
            throw error
        }
        unsafe unlinkat(number, draft, 0)
        return false
    }

    private static func fill(
        _ file: Int32, _ contents: ArraySlice<UInt8>, _ new: NewFile, _ path: String
    ) throws(FileFault) {
        var count = 0
        while count < contents.count {
            let put = unsafe contents.withUnsafeBytes { bytes in
                unsafe write(file, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            }
            if put > 0 {
                count += put
            } else if put == 0 {
                throw FileFault(.noSpace, path: path)
            } else if errno != EINTR {
                throw FileFault(lastWriting: path)
            }
        }
        if new.isExecutable, !makeExecutable(file) { new.onLostPermission() }
        if let modified = new.modified {
            let now = timespec(tv_sec: 0, tv_nsec: CLibrary.timeNow)
            let times = (now, timespec(tv_sec: Int(modified.seconds), tv_nsec: Int(modified.nanoseconds)))
            // A file system may know no time as early or late as this; the file is no worse for it.
            _ = unsafe withUnsafeBytes(of: times) { bytes in
                unsafe futimens(file, bytes.bindMemory(to: timespec.self).baseAddress)
            }
        }
        if new.isSynchronized, fsync(file) != 0 { throw FileFault(lastAt: path) }
    }

    /// Has the names in it on disk. Some file systems cannot do that for a directory.
    package func synchronize() throws(FileFault) {
        if fsync(number) == 0 || [EINVAL, EROFS].contains(errno) { return }
        // One that may not be listed is held open only as a place.
        throw errno == EBADF ? FileFault(.permission, path: path) : FileFault(lastAt: path)
    }
}
