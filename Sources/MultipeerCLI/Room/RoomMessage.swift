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

    /// In bytes: what each peer in a room takes, with the mark and the line end.
    package static let longest = 65_536

    /// Returns the messages that carry a text: several if it is longer than one may be, which end where a line does if there is one.
    package static func all(
        _ text: String, isPrivate: Bool, most: Int = RoomMessage.longest
    ) -> [RoomMessage] {
        let room = max(4, most - 2)
        let bytes = Array(text.utf8)
        var messages: [RoomMessage] = []
        var start = 0
        func add(_ range: Range<Int>) {
            messages.append(
                RoomMessage(String(decoding: bytes[range], as: UTF8.self), isPrivate: isPrivate))
        }
        while bytes.count - start > room {
            var end = start + room
            // The bytes of a character stay together.
            while bytes[end] & 0xC0 == 0x80 { end -= 1 }
            let lineEnd = bytes[start..<end].lastIndex(of: UInt8(ascii: "\n")).flatMap {
                $0 > start ? $0 : nil
            }
            add(start..<(lineEnd ?? end))
            start = lineEnd.map { $0 + 1 } ?? end
        }
        add(start..<bytes.count)
        return messages
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
