import MultipeerEssentials

/// Files that commands name: read whole and written atomically, so that no reader sees half of one.
package enum AtomicFile {
    /// What has to be at a path before anything of it is used. It is opened without waiting: a FIFO may
    /// never have a writer.
    package enum Kind: Sendable {
        /// A file, or a FIFO, whose writer is waited for: the user has named it just now.
        case any
        /// The same, as it is at present: a FIFO without a writer is empty.
        case present
        /// A regular file of this user or root that not everyone can change: a group may.
        case setting
        /// A private key, in a file or a pipe.
        case key
        /// A private key in a regular file.
        case keptKey

        fileprivate var isKey: Bool { self == .key || self == .keptKey }
        fileprivate var isRegular: Bool { self == .setting || self == .keptKey }
    }

    /// Returns the contents of a file or a pipe.
    package static func read(
        _ path: String, as kind: Kind = .any, limit: Int = 1_048_576
    ) throws(CommandError) -> [UInt8] {
        let stream = try open(path, as: kind)
        defer { stream.close() }
        return try stream.readAll(limit: limit, isWaiting: kind == .any)
    }

    /// Throws unless the file at the path is of that kind. Nothing is read.
    package static func check(_ path: String, as kind: Kind) throws(CommandError) {
        try open(path, as: kind).close()
    }

    private static func open(_ path: String, as kind: Kind) throws(CommandError) -> DescriptorStream {
        let stream = try DescriptorStream(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        do throws(CommandError) {
            try check(stream, kind)
        } catch {
            stream.close()
            throw error
        }
        return stream
    }

    private static func check(_ stream: DescriptorStream, _ kind: Kind) throws(CommandError) {
        guard kind.isKey || kind.isRegular else { return }
        var facts = stat()
        guard unsafe fstat(stream.descriptor, &facts) == 0 else {
            throw DescriptorStream.failure("cannot read \(stream.name)")
        }
        let form = facts.st_mode & S_IFMT
        guard form == S_IFREG || !kind.isRegular && form == S_IFIFO else {
            throw CommandError("\(stream.name) is not a regular file", exit: .badInput)
        }
        let mode = String(facts.st_mode & 0o777, radix: 8)
        let what = kind.isKey ? "a private key" : "a file of settings"
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw CommandError(
                "\(stream.name) belongs to another user", hint: "\(what) has to be your own", exit: .badInput)
        }
        guard kind.isKey else {
            guard facts.st_mode & 0o002 != 0 else { return }
            throw CommandError(
                "\(stream.name) can be changed by other users, mode \(mode)",
                hint: "run 'chmod go-w \(stream.name)'", exit: .badInput)
        }
        // The administrator may give a key to a group.
        let others: mode_t = facts.st_uid == geteuid() ? 0o077 : 0o027
        guard facts.st_mode & others != 0 else { return }
        throw CommandError(
            "\(stream.name) is open to other users, mode \(mode): a private key has to be closed to them",
            hint: "run 'chmod 600 \(stream.name)'; if others may have read it, make a new one",
            exit: .badInput)
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
}
