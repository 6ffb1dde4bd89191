import Multipeer
import MultipeerCommandLine

/// What a sender says it is going to send, before its peer agrees: how many files, how many bytes, and the first names.
package struct OfferedFiles: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        package let name: String
        /// In bytes; nil when the sender does not know it yet.
        package let size: UInt64?
        /// The number of files in a directory; nil for a file.
        package let files: Int?

        package init(name: String, size: UInt64?, files: Int? = nil) {
            self.name = name
            self.size = size
            self.files = files
        }
    }

    package let count: Int
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
        count = files.reduce(0) { $0 + ($1.files ?? 1) }
        size = files.reduce(0) { total, file in
            guard let total, let size = file.size else { return nil }
            let (sum, isOver) = total.addingReportingOverflow(size)
            return isOver ? nil : sum
        }
        first = files.prefix(OfferedFiles.mostListed).map { file in
            let line = file.name.split(whereSeparator: \.isNewline).joined(separator: " ")
            let name = String(
                decoding: Text.prefix(line, limit: OfferedFiles.longestName), as: UTF8.self)
            return File(name: name, size: file.size, files: file.files)
        }
    }

    /// The form in an invitation: a line with count and size, then a line with size and name for each of the first files. The
    /// size of a directory is followed by a slash and the number of its files.
    package var text: String {
        let lines = first.map { file in
            "\(OfferedFiles.text(file.size))\(file.files.map { "/\($0)" } ?? "") \(file.name)"
        }
        return (["\(count) \(OfferedFiles.text(size))"] + lines).joined(separator: "\n")
    }

    /// Returns nil for anything that `text` does not write.
    package init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let head = lines.first, lines.count <= 1 + OfferedFiles.mostListed,
            let (size, rest, _) = OfferedFiles.fields(head, isSizeFirst: false),
            let count = Int(rest), (1...FilePosition.most).contains(count), lines.count <= 1 + count
        else { return nil }
        var files: [File] = []
        for line in lines.dropFirst() {
            guard let (size, name, inside) = OfferedFiles.fields(line, isSizeFirst: true), !name.isEmpty,
                name.utf8.count <= OfferedFiles.longestName, inside ?? 1 <= count
            else { return nil }
            files.append(File(name: String(name), size: size, files: inside))
        }
        self.count = count
        self.size = size
        first = files
    }

    private static func text(_ size: UInt64?) -> String { size.map { "\($0)" } ?? unknown }

    /// Splits a line at its first space into a size, nil if unknown, and the other field, and the size from a number of files.
    private static func fields(
        _ line: Substring, isSizeFirst: Bool
    ) -> (size: UInt64?, rest: Substring, files: Int?)? {
        guard let space = line.firstIndex(of: " ") else { return nil }
        let (head, tail) = (line[..<space], line[line.index(after: space)...])
        var (digits, rest) = isSizeFirst ? (head, tail) : (tail, head)
        var files: Int?
        if isSizeFirst, let slash = digits.firstIndex(of: "/") {
            guard let count = Int(digits[digits.index(after: slash)...]),
                (1...FilePosition.most).contains(count)
            else { return nil }
            files = count
            digits = digits[..<slash]
        }
        if digits == unknown { return (nil, rest, files) }
        guard let size = UInt64(digits) else { return nil }
        return (size, rest, files)
    }
}

// MARK: for people

extension OfferedFiles {
    /// What the sender wants, after "wants to": the name and size of one file or directory, or the count and the total.
    package var wish: String {
        let total = size.map { ", \(HumanReadable.bytes($0))" } ?? ""
        if let directory, let files = directory.files {
            return "send the directory '\(directory.name.printable)', \(HumanReadable.files(files))\(total)"
        }
        guard count == 1 else { return "send \(count) files\(total)" }
        return "send " + (first.first.map { "'\($0.name.printable)'" } ?? "a file") + total
    }

    /// The directory, if it is all that comes.
    private var directory: File? { first.first?.files == count ? first.first : nil }

    /// The first of several files, a line each, indented; names are escaped and shortened to fit.
    package func list(width: Int) -> [String] {
        guard count > 1, directory == nil else { return [] }
        var lines = first.map { file in
            let files = file.files.map { "  \(HumanReadable.files($0))" } ?? ""
            let size = files + (file.size.map { "  \(HumanReadable.bytes($0))" } ?? "")
            let name = file.name.printable + (file.files == nil ? "" : "/")
            return "  \(name.fitted(to: max(8, width - 2 - size.count)))\(size)"
        }
        let listed = first.reduce(0) { $0 + ($1.files ?? 1) }
        if count > listed { lines.append("  and \(count - listed) more") }
        return lines
    }
}
