package import MultipeerCommandLine
import MultipeerEssentials
package import MultipeerFetch

/// A source to send, checked before the network is used.
package struct TransferSource: Equatable, Sendable {
    package enum Origin: Equatable, Sendable {
        case file(String)
        case web(WebURL)
        case input
        /// A FIFO, such as a shell makes for `<(command)`.
        case pipe(String)
        /// A file in a directory that is sent.
        case entry(SentDirectory, SentDirectory.Entry)
    }

    package let origin: Origin
    /// The name for the receiver.
    package let label: String
    /// In bytes; nil while unknown.
    package let size: UInt64?
    private let kind: SentFileDetails.Kind
    private let modified: FileTime?
    private static let longestLabel = 1_024

    /// `word`: a path, an http or https address, or `-` for standard input.
    package init(_ word: String, as name: String? = nil) throws(CommandError) {
        let found = try TransferSource.origin(word)
        (origin, size, kind, modified) = (found.origin, found.size, found.kind, found.modified)
        label = name ?? TransferSource.label(origin)
        guard (1...TransferSource.longestLabel).contains(label.utf8.count) else {
            throw CommandError(
                "\(word.printable): a name must have 1 to \(TransferSource.longestLabel) bytes", exit: .usage)
        }
    }

    package init(_ entry: SentDirectory.Entry, in directory: SentDirectory) {
        origin = .entry(directory, entry)
        label = entry.path.name
        (size, kind, modified) = (entry.size, entry.kind, entry.modified)
    }

    /// Returns the sources for one argument: all files of a directory, or one.
    package static func all(_ word: String, as name: String?) throws(CommandError) -> [TransferSource] {
        guard isDirectory(word) else { return [try TransferSource(word, as: name)] }
        guard name == nil else {
            throw CommandError("a directory is sent under its own name, without --as", exit: .usage)
        }
        let directory = try SentDirectory(word)
        return directory.entries.map { TransferSource($0, in: directory) }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var facts = stat()
        return unsafe path != "-" && stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// The directory that it is a file of.
    package var directory: SentDirectory? {
        if case .entry(let directory, _) = origin { directory } else { nil }
    }

    /// Its path in the directory that is sent, or its label.
    package var shown: String { if case .entry(_, let entry) = origin { entry.path.text } else { label } }

    /// What the receiver learns about it.
    package func metadata(_ position: FilePosition) -> SentFileDetails {
        var path: RelativePath?
        if case .entry(_, let entry) = origin { path = entry.path }
        return SentFileDetails(position, kind: kind, modified: modified, path: path)
    }

    /// Returns whether something has this path, also a link to nothing.
    static func isThere(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0
    }

    /// Whether it is a directory without files.
    var isDirectory: Bool { kind == .directory }

    /// What the receiver knows before it agrees.
    var offer: OfferedFiles.File { OfferedFiles.File(name: label, size: size) }

    /// The same for many: a directory is one of them.
    static func offer(_ sources: [TransferSource]) -> OfferedFiles {
        var seen: Set<ObjectIdentifier> = []
        var files: [OfferedFiles.File] = []
        for source in sources {
            guard let directory = source.directory else {
                files.append(source.offer)
                continue
            }
            guard seen.insert(ObjectIdentifier(directory)).inserted else { continue }
            files.append(
                OfferedFiles.File(
                    name: directory.name, size: directory.size, contents: directory.contents))
        }
        return OfferedFiles(files)
    }

    private struct Found {
        let origin: Origin
        var size: UInt64?
        var kind = SentFileDetails.Kind.file
        var modified: FileTime?
    }

    private static func origin(_ word: String) throws(CommandError) -> Found {
        if word == "-" { return Found(origin: .input) }
        if let scheme = ["http://", "https://"].first(where: word.lowercased().hasPrefix) {
            guard let url = WebURL(word) else {
                throw CommandError("\(word.printable) is not a valid \(scheme) URL", exit: .usage)
            }
            return Found(origin: .web(url))
        }
        return try file(word)
    }

    /// Accepts a readable regular file and a FIFO, and nothing else.
    private static func file(_ path: String) throws(CommandError) -> Found {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else {
            throw DescriptorStream.failure("cannot send \(path.printable)")
        }
        let isPipe = facts.st_mode & S_IFMT == S_IFIFO
        guard isPipe || facts.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(
                "cannot send \(path.printable): it is \(kind(facts.st_mode)), not a file", exit: .system)
        }
        guard unsafe access(path, R_OK) == 0 else {
            throw DescriptorStream.failure("cannot send \(path.printable)")
        }
        if isPipe { return Found(origin: .pipe(path)) }
        return Found(
            origin: .file(path), size: try size(path, facts),
            kind: facts.st_mode & 0o100 == 0 ? .file : .program,
            modified: FileTime(
                seconds: Int64(facts.modified.tv_sec), nanoseconds: Int64(facts.modified.tv_nsec)))
    }

    /// Returns the size that can be read, which only the file itself knows where it is said to have none.
    private static func size(_ path: String, _ facts: stat) throws(CommandError) -> UInt64? {
        if facts.st_size > 0 { return UInt64(facts.st_size) }
        do throws(FileFault) { return try FileSource(path).size } catch {
            throw CommandError("cannot send \(path.printable): \(error.reason)", exit: .system)
        }
    }

    private static func kind(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFSOCK: "a socket"
        case S_IFCHR, S_IFBLK: "a device"
        default: "something else"
        }
    }

    private static func label(_ origin: Origin) -> String {
        switch origin {
        case .input: "input"
        case .pipe(let path), .file(let path): FilePath(path).name
        case .entry(_, let entry): entry.path.name
        case .web(let url): url.label
        }
    }
}
