import Multipeer
import MultipeerCommandLine

/// What a sender says it is going to send, before its peer agrees: how many files, how many bytes, and the first names.
package struct OfferedFiles: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        package let name: String
        /// In bytes; nil when the sender does not know it yet.
        package let size: UInt64?

        package init(name: String, size: UInt64?) {
            self.name = name
            self.size = size
        }
    }

    package let count: Int
    /// The size of all files in bytes; nil when the sender does not know that of each.
    package let size: UInt64?
    /// The first files, at most `mostListed`.
    package let first: [File]

    /// More names do not help a person to decide.
    package static let mostListed = 6
    /// In bytes; a longer name is cut.
    private static let longestName = 255
    private static let unknown = "-"

    package init(_ files: [File]) {
        count = files.count
        size = files.reduce(0) { total, file in
            guard let total, let size = file.size else { return nil }
            let (sum, isOver) = total.addingReportingOverflow(size)
            return isOver ? nil : sum
        }
        first = files.prefix(OfferedFiles.mostListed).map { file in
            let line = file.name.split(whereSeparator: \.isNewline).joined(separator: " ")
            let name = String(
                decoding: Text.prefix(line, limit: OfferedFiles.longestName), as: UTF8.self)
            return File(name: name, size: file.size)
        }
    }

    /// The form in an invitation: a line with count and size, then a line with size and name for each of the first files.
    package var text: String {
        let lines = first.map { "\(OfferedFiles.text($0.size)) \($0.name)" }
        return (["\(count) \(OfferedFiles.text(size))"] + lines).joined(separator: "\n")
    }

    /// Returns nil for anything that `text` does not write.
    package init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let head = lines.first, lines.count <= 1 + OfferedFiles.mostListed,
            let (size, rest) = OfferedFiles.fields(head, isSizeFirst: false),
            let count = Int(rest), (1...FilePosition.most).contains(count), lines.count <= 1 + count
        else { return nil }
        var files: [File] = []
        for line in lines.dropFirst() {
            guard let (size, name) = OfferedFiles.fields(line, isSizeFirst: true), !name.isEmpty,
                name.utf8.count <= OfferedFiles.longestName
            else { return nil }
            files.append(File(name: String(name), size: size))
        }
        self.count = count
        self.size = size
        first = files
    }

    private static func text(_ size: UInt64?) -> String { size.map { "\($0)" } ?? unknown }

    /// Splits a line at its first space into a size, nil if unknown, and the other field.
    private static func fields(_ line: Substring, isSizeFirst: Bool) -> (size: UInt64?, rest: Substring)? {
        guard let space = line.firstIndex(of: " ") else { return nil }
        let (head, tail) = (line[..<space], line[line.index(after: space)...])
        let (digits, rest) = isSizeFirst ? (head, tail) : (tail, head)
        if digits == unknown { return (nil, rest) }
        guard let size = UInt64(digits) else { return nil }
        return (size, rest)
    }
}

// MARK: for people

extension OfferedFiles {
    /// What the sender wants, after "wants to": the name and size of one file, or the count and the total.
    package var wish: String {
        let total = size.map { ", \(HumanReadable.bytes($0))" } ?? ""
        guard count == 1 else { return "send \(count) files\(total)" }
        return "send " + (first.first.map { "'\($0.name.printable)'" } ?? "a file") + total
    }

    /// The first of several files, a line each, indented; names are escaped and shortened to fit.
    package func list(width: Int) -> [String] {
        guard count > 1 else { return [] }
        var lines = first.map { file in
            let size = file.size.map { "  \(HumanReadable.bytes($0))" } ?? ""
            return "  \(file.name.printable.fitted(to: max(8, width - 2 - size.count)))\(size)"
        }
        if count > first.count { lines.append("  and \(count - first.count) more") }
        return lines
    }
}
