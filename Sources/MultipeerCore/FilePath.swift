/// A name or path of a file, equal only to one with the same bytes.
///
/// `String` takes "é" in one scalar and in two for the same text, and "/" with a combining mark after it for another character than
/// "/". To the system both are just bytes. So names and paths are compared, ordered and taken apart here, and are texts otherwise.
package struct FilePath: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(_ components: some Sequence<FilePath>) {
        text = components.lazy.map(\.text).joined(separator: "/")
    }

    package static func == (one: FilePath, other: FilePath) -> Bool { one.text.hasBytes(of: other.text) }

    package static func < (one: FilePath, other: FilePath) -> Bool { one.text.isBefore(other.text) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    package var description: String { text }

    /// Returns the path of what has this name in the directory of this path.
    package func appending(_ name: String) -> String {
        text.ends(with: "/") ? text + name : "\(text)/\(name)"
    }

    /// The text without slashes at its end; one is left of "/".
    package var withoutEnd: String {
        var text = text
        while text.utf8.count > 1, text.ends(with: "/") { text.unicodeScalars.removeLast() }
        return text
    }

    package var isAbsolute: Bool { text.utf8.first == UInt8(ascii: "/") }

    /// The last component; empty for none, as of "/".
    package var name: String { text.pieces(at: "/").last.map(String.init) ?? "" }

    /// All up to the last slash and with it; empty without one.
    package var directory: Substring {
        text[..<(text.lastPosition(of: "/", isAfter: true) ?? text.startIndex)]
    }

    /// What follows the last slash; all without one.
    package var last: Substring { text[directory.endIndex...] }
}

// MARK: text by its bytes

/// What has a meaning on the wire, in a file or on a command line is split, searched and compared by bytes. Marks are ASCII.
extension String {
    /// Returns what is between the marks. `count`: of the pieces, at most; 1 or more.
    package func pieces(
        at mark: Unicode.Scalar, atMost count: Int = .max, keepingEmpty: Bool = false
    ) -> [Substring] {
        self[...].pieces(at: mark, atMost: count, keepingEmpty: keepingEmpty)
    }

    /// Returns the lines without their ends, which are LF, CR LF or CR. The last line may have none.
    package var lines: [Substring] { self[...].lines }

    package func firstPosition(of mark: Unicode.Scalar, isAfter: Bool = false) -> Index? {
        self[...].firstPosition(of: mark, isAfter: isAfter)
    }

    package func lastPosition(of mark: Unicode.Scalar, isAfter: Bool = false) -> Index? {
        self[...].lastPosition(of: mark, isAfter: isAfter)
    }
}

extension Substring {
    package func pieces(
        at mark: Unicode.Scalar, atMost count: Int = .max, keepingEmpty: Bool = false
    ) -> [Substring] {
        utf8.split(
            separator: UInt8(ascii: mark), maxSplits: count - 1, omittingEmptySubsequences: !keepingEmpty
        ).map { Substring($0) }
    }

    package var lines: [Substring] {
        var lines: [Substring] = []
        var rest = utf8
        while !rest.isEmpty {
            let end =
                rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? rest.endIndex
            lines.append(self[rest.startIndex..<end])
            let isPair = rest[end...].starts(with: "\r\n".utf8)
            rest = rest[end...].dropFirst(isPair ? 2 : 1)
        }
        return lines
    }

    /// `isAfter`: the position after the mark.
    package func firstPosition(of mark: Unicode.Scalar, isAfter: Bool = false) -> Index? {
        utf8.firstIndex(of: UInt8(ascii: mark)).map { isAfter ? utf8.index(after: $0) : $0 }
    }

    package func lastPosition(of mark: Unicode.Scalar, isAfter: Bool = false) -> Index? {
        utf8.lastIndex(of: UInt8(ascii: mark)).map { isAfter ? utf8.index(after: $0) : $0 }
    }
}

extension StringProtocol {
    package func hasBytes(of other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    package func isBefore(_ other: some StringProtocol) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

    package func begins(with start: some StringProtocol) -> Bool { utf8.starts(with: start.utf8) }

    /// Returns what follows that beginning; nil for a text with another one.
    package func rest(after start: some StringProtocol) -> Substring? {
        guard begins(with: start) else { return nil }
        return Substring(Substring(self).utf8.dropFirst(start.utf8.count))
    }

    /// What is between the brackets of a text that begins and ends with one, such as an IPv6 address with a port; nil for others.
    package var inBrackets: Substring? {
        guard let rest = rest(after: "["), rest.ends(with: "]") else { return nil }
        return Substring(rest.utf8.dropLast())
    }

    package func ends(with end: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: end.utf8.reversed())
    }
}
