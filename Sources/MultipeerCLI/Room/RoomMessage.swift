import MultipeerCommandLine

/// What is said in a room: a message for each line, with its end, so that 'multipeer link' is understood and understands.
/// One to a single peer has a byte 1 in front, so that it can be shown as what it is.
package struct RoomMessage: Equatable, Sendable {
    /// The lines, each with its end.
    package let text: String
    /// Nobody else hears it.
    package let isPrivate: Bool

    private static let mark: UInt8 = 1

    package init(_ text: String, isPrivate: Bool) {
        self.text = text + "\n"
        self.isPrivate = isPrivate
    }

    /// Nil at the end of what 'multipeer link' has to say.
    package init?(_ bytes: [UInt8]) {
        isPrivate = bytes.first == RoomMessage.mark
        let rest = isPrivate ? bytes.dropFirst() : bytes[...]
        if rest.isEmpty { return nil }
        text = String(decoding: rest, as: UTF8.self)
    }

    package var bytes: [UInt8] { (isPrivate ? [RoomMessage.mark] : []) + Array(text.utf8) }

    /// How it is shown: each line under the name of whoever says it.
    package func shown(from name: String) -> String {
        let head = name + (isPrivate ? " > you: " : ": ")
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { "\(head)\(String($0).printable)\n" }.joined()
    }
}
