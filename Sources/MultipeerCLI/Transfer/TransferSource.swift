package import Foundation
package import MultipeerCommandLine

/// A source to send, checked before the network is used.
package struct TransferSource: Equatable, Sendable {
    package enum Origin: Equatable, Sendable {
        case file(URL)
        case web(URL)
        case input
        /// A FIFO, such as a shell makes for `<(command)`.
        case pipe(String)
    }

    package let origin: Origin
    /// The name for the receiver.
    package let label: String
    /// In bytes; nil while unknown.
    private let size: UInt64?
    private static let longestLabel = 1_024

    /// `word`: a path, an http or https address, or `-` for standard input.
    package init(_ word: String, as name: String? = nil) throws(CommandError) {
        (origin, size) = try TransferSource.origin(word)
        label = name ?? TransferSource.label(origin)
        guard (1...TransferSource.longestLabel).contains(label.utf8.count) else {
            throw CommandError(
                "\(word.printable): a name must have 1 to \(TransferSource.longestLabel) bytes", exit: .usage)
        }
    }

    /// Returns whether something has this path, also a link to nothing.
    static func isThere(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0
    }

    /// What the receiver knows before it agrees.
    var offer: OfferedFiles.File { OfferedFiles.File(name: label, size: size) }

    private static func origin(_ word: String) throws(CommandError) -> (Origin, size: UInt64?) {
        if word == "-" { return (.input, nil) }
        if let scheme = ["http://", "https://"].first(where: word.lowercased().hasPrefix) {
            guard let url = URL(string: word), let host = url.host(), !host.isEmpty else {
                throw CommandError("\(word.printable) is not a valid \(scheme) URL", exit: .usage)
            }
            return (.web(url), nil)
        }
        guard let size = try size(ofFile: word) else { return (.pipe(word), nil) }
        return (.file(URL(filePath: word, directoryHint: .notDirectory)), size)
    }

    /// Returns the size of a readable regular file, and nil for a FIFO; accepts nothing else.
    private static func size(ofFile path: String) throws(CommandError) -> UInt64? {
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
        return isPipe ? nil : UInt64(max(0, facts.st_size))
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
        case .input: return "input"
        case .pipe(let path):
            return URL(filePath: path, directoryHint: .notDirectory).lastPathComponent
        case .file(let url): return url.lastPathComponent
        case .web(let url):
            let name = url.lastPathComponent
            return name.isEmpty || name == "/" ? url.host() ?? "download" : name
        }
    }
}
