import MultipeerCommandLine
import MultipeerEssentials

/// What a sender says it is going to send, before its peer agrees: how many files, how many bytes, and the first names.
package struct OfferedFiles: Equatable, Sendable {
    /// How many files there are, and directories without files.
    package struct Contents: Equatable, Sendable {
        package var files: Int
        package var directories: Int

        package init(files: Int, directories: Int = 0) {
            self.files = files
            self.directories = directories
        }

        package var count: Int { files + directories }

        /// `3`, or `3+1` with directories.
        fileprivate var text: String { directories == 0 ? "\(files)" : "\(files)+\(directories)" }

        /// Returns nil for anything that `text` does not write.
        fileprivate init?(_ text: Substring) {
            let parts = text.pieces(at: "+", keepingEmpty: true)
            let most = FilePosition.most
            guard parts.count <= 2, let files = Int(parts[0]), (0...most).contains(files) else { return nil }
            var directories = 0
            if parts.count == 2 {
                guard let count = Int(parts[1]), (1...most).contains(count) else { return nil }
                directories = count
            }
            guard (1...most).contains(files + directories) else { return nil }
            (self.files, self.directories) = (files, directories)
        }
    }

    package struct File: Equatable, Sendable {
        package let name: String
        /// In bytes; nil when the sender does not know it yet.
        package let size: UInt64?
        /// What is in a directory; nil for a file.
        package let contents: Contents?

        package init(name: String, size: UInt64?, contents: Contents? = nil) {
            self.name = name
            self.size = size
            self.contents = contents
        }
    }

    /// Of all that is sent.
    package let contents: Contents
    /// The size of all files in bytes; nil when the sender does not know that of each.
    package let size: UInt64?
    /// The first files and directories, at most `mostListed`.
    package let first: [File]

    /// More names do not help a person to decide.
    package static let mostListed = 6
    /// In bytes; a longer name is cut.
    private static let longestName = 255
    private static let unknown = "-"

    package init(_ files: [File]) {
        contents = files.reduce(into: Contents(files: 0)) { all, file in
            all.files += file.contents?.files ?? 1
            all.directories += file.contents?.directories ?? 0
        }
        size = files.reduce(0) { total, file in
            guard let total, let size = file.size else { return nil }
            let (sum, isOver) = total.addingReportingOverflow(size)
            return isOver ? nil : sum
        }
        first = files.prefix(OfferedFiles.mostListed).map { file in
            let line = file.name.lines.joined(separator: " ")
            let name = String(
                decoding: Text.prefix(line, limit: OfferedFiles.longestName), as: UTF8.self)
            return File(name: name, size: file.size, contents: file.contents)
        }
    }

    /// The form in an invitation: a line with count and size, then a line with size and name for each of the first files. The
    /// size of a directory is followed by a slash and the count of what is in it. A count is the number of files, followed by a
    /// plus sign and the number of directories without files if there are any.
    package var text: String {
        let lines = first.map { file in
            "\(OfferedFiles.text(file.size))\(file.contents.map { "/\($0.text)" } ?? "") \(file.name)"
        }
        return (["\(contents.text) \(OfferedFiles.text(size))"] + lines).joined(separator: "\n")
    }

    /// Returns nil for anything that `text` does not write.
    package init?(_ text: String) {
        let lines = text.pieces(at: "\n", keepingEmpty: true)
        guard let head = lines.first, lines.count <= 1 + OfferedFiles.mostListed,
            let (size, rest, _) = OfferedFiles.fields(head, isSizeFirst: false),
            let contents = Contents(rest), lines.count <= 1 + contents.count
        else { return nil }
        var files: [File] = []
        for line in lines.dropFirst() {
            guard let (size, name, inside) = OfferedFiles.fields(line, isSizeFirst: true), !name.isEmpty,
                name.utf8.count <= OfferedFiles.longestName, inside?.count ?? 1 <= contents.count
            else { return nil }
            files.append(File(name: String(name), size: size, contents: inside))
        }
        self.contents = contents
        self.size = size
        first = files
    }

    private static func text(_ size: UInt64?) -> String { size.map { "\($0)" } ?? unknown }

    /// Splits a line at its first space into a size, nil if unknown, and the other field, and the size from a count.
    private static func fields(
        _ line: Substring, isSizeFirst: Bool
    ) -> (size: UInt64?, rest: Substring, contents: Contents?)? {
        guard let space = line.firstPosition(of: " ") else { return nil }
        let (head, tail) = (line[..<space], line[line.index(after: space)...])
        var (digits, rest) = isSizeFirst ? (head, tail) : (tail, head)
        var contents: Contents?
        if isSizeFirst, let slash = digits.firstPosition(of: "/") {
            guard let count = Contents(digits[digits.index(after: slash)...]) else { return nil }
            contents = count
            digits = digits[..<slash]
        }
        if digits == unknown { return (nil, rest, contents) }
        guard let size = UInt64(digits) else { return nil }
        return (size, rest, contents)
    }
}

// MARK: for people

extension OfferedFiles {
    /// What the sender wants, after "wants to": the name and size of one file or directory, or the count and the total.
    package var wish: String {
        let total = size.map { ", \(HumanReadable.bytes($0))" } ?? ""
        if let directory {
            return "send the directory '\(directory.name.printable)', \(contents.words)\(total)"
        }
        guard contents.count == 1 else { return "send \(contents.words)\(total)" }
        return "send " + (first.first.map { "'\($0.name.printable)'" } ?? "a file") + total
    }

    /// The directory, if it is all that comes.
    private var directory: File? { first.first?.contents == contents ? first.first : nil }

    /// The first of several files, a line each, indented; names are escaped and shortened to fit.
    package func list(width: Int) -> [String] {
        guard contents.count > 1, directory == nil else { return [] }
        var lines = first.map { file in
            let files = file.contents.map { "  \($0.words)" } ?? ""
            let size = files + (file.size.map { "  \(HumanReadable.bytes($0))" } ?? "")
            let name = file.name.printable + (file.contents == nil ? "" : "/")
            return "  \(name.fitted(to: max(8, width - 2 - size.count)))\(size)"
        }
        let listed = first.reduce(0) { $0 + ($1.contents?.count ?? 1) }
        if contents.count > listed { lines.append("  and \(contents.count - listed) more") }
        return lines
    }
}

extension OfferedFiles.Contents {
    /// `3 files and 1 directory`.
    var words: String { HumanReadable.files(files, directories: directories) }
}
