import MultipeerCommandLine
import MultipeerEssentials

/// A message in a room: one for each line, with its line end, so that it is compatible with 'multipeer link'. A message to a
/// single peer begins with a byte 1, so that it can be shown as private.
package struct RoomMessage: Equatable, Sendable {
    /// The lines, each with its line end.
    package let text: String
    /// Whether it is sent to one peer only.
    package let isPrivate: Bool

    static let mark: UInt8 = 1

    package init(_ text: String, isPrivate: Bool) {
        self.text = text + "\n"
        self.isPrivate = isPrivate
    }

    /// Returns nil for the end of input of 'multipeer link'.
    package init?(_ bytes: [UInt8]) {
        isPrivate = bytes.first == RoomMessage.mark
        let rest = isPrivate ? bytes.dropFirst() : bytes[...]
        if rest.isEmpty { return nil }
        text = String(decoding: rest, as: UTF8.self)
    }

    package var bytes: [UInt8] { (isPrivate ? [RoomMessage.mark] : []) + Array(text.utf8) }

    /// Returns the text to show: each line with the sender's name in front, and the time before that, if the style has one.
    package func shown(from name: String, in style: LineStyle = .plain) -> String {
        let head = style.time + name + (isPrivate ? " > you: " : ": ")
        return text.lines.map { "\(head)\(String($0).printableText)\n" }.joined()
    }
}
