import MultipeerCore
import MultipeerPlatform

/// Small private files: identities, connection data, the trust store.
package enum PrivateFile {
    /// Reads all of a regular file of at most `limit` bytes. Links are refused.
    package static func read(_ path: String, limit: Int) throws(FileFault) -> [UInt8] {
        try OpenFile(path, O_RDONLY).readAll(limit: limit)
    }

    /// Replaces the whole file with these bytes, readable by its owner only. A concurrent reader, or one after a power failure,
    /// finds the old contents or the new. A link at the path is refused; one created in the meantime is replaced.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(FileFault) {
        try refuseSpecial(path)
        let (directory, name) = split(path)
        var random = SystemRandomness.ofKernel
        let temporary = "\(directory)/.\(name).\(String(random.next(), radix: 36))"
        do throws(FileFault) {
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL)
            try file.writeAll(bytes)
            try file.synchronise()
        } catch {
            // Not if it existed before: then it is not ours to remove.
            if error.reason != .other(EEXIST) { unsafe unlink(temporary) }
            throw FileFault(error.reason, path: path)
        }
        guard unsafe rename(temporary, path) == 0 else {
            let fault = FileFault(lastAt: path)
            unsafe unlink(temporary)
            throw fault
        }
        synchronise(directory: directory)
    }

    private static func refuseSpecial(_ path: String) throws(FileFault) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw FileFault(lastAt: path)
        }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { throw FileFault(.isDirectory, path: path) }
        if kind != S_IFREG { throw FileFault(.notRegular, path: path) }
    }

    static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastPosition(of: "/") else { return (".", path) }
        return (String(path[..<slash]), String(FilePath(path).last))
    }

    /// Makes the new name survive a power failure. The contents are safe without it, so a failure is ignored.
    private static func synchronise(directory: String) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let descriptor = Descriptors.open(directory.isEmpty ? "/" : directory, flags)
        if descriptor < 0 { return }
        fsync(descriptor)
        close(descriptor)
    }
}
