import MultipeerEssentials

/// Files that commands name: read whole and written atomically, so that no reader sees half of one.
package enum AtomicFile {
    /// Returns the contents of a file or a pipe.
    package static func read(_ path: String, limit: Int = 1_048_576) throws(CommandError) -> [UInt8] {
        let stream = try DescriptorStream(opening: path)
        defer { stream.close() }
        return try stream.readAll(limit: limit)
    }

    /// Writes a file that only its owner can read; replaces an existing one only if `replacing`.
    package static func write(_ bytes: [UInt8], to path: String, replacing: Bool) throws(CommandError) {
        guard !replacing else { return try replace(path, with: bytes) }
        let draft = "\(path).\(getpid())"
        try replace(draft, with: bytes)
        defer { _ = unsafe unlink(draft) }
        guard unsafe link(draft, path) == 0 else {
            guard errno == EEXIST else { throw DescriptorStream.failure("cannot write \(path.printable)") }
            throw CommandError(
                "\(path.printable) already exists", hint: "use --force to replace it", exit: .system)
        }
    }

    private static func replace(_ path: String, with bytes: [UInt8]) throws(CommandError) {
        do throws(FileFault) {
            try PrivateFile.replace(path, with: bytes)
        } catch {
            throw CommandError("cannot write \(path.printable): \(error.reason)", exit: .system)
        }
    }

    /// Writes a file that others may read as far as the process's umask permits it; replaces an existing one.
    package static func publish(_ bytes: [UInt8], to path: String) throws(CommandError) {
        let draft = "\(path).\(getpid())"
        // The kernel applies the umask to a new file, and only to it.
        let descriptor = Descriptors.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw DescriptorStream.failure("cannot write \(path.printable)") }
        defer { _ = unsafe unlink(draft) }
        var facts = stat()
        let isKnown = unsafe fstat(descriptor, &facts) == 0
        close(descriptor)
        guard isKnown else { throw DescriptorStream.failure("cannot write \(path.printable)") }
        try replace(draft, with: bytes)
        // The mode is a wish: not every file system knows one.
        _ = unsafe chmod(draft, facts.st_mode & 0o777)
        guard unsafe rename(draft, path) == 0 else {
            throw DescriptorStream.failure("cannot write \(path.printable)")
        }
    }

    /// Returns the permissions of a file that users other than its owner can read; nil when only the owner can.
    package static func exposure(of path: String) -> String? {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0, facts.st_mode & 0o044 != 0 else { return nil }
        return String(facts.st_mode & 0o777, radix: 8)
    }
}
