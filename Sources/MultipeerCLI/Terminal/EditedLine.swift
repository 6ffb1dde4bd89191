import MultipeerCommandLine

/// A line that is being typed, for a terminal in raw mode: the input stays together, whatever is shown meanwhile. It has no
/// cursor: text is added at the end.
package struct EditedLine: Equatable, Sendable {
    package enum Effect: Equatable, Sendable {
        case nothing
        /// The line has changed.
        case changed
        case entered(String)
        /// The end of the input.
        case ended
    }

    package private(set) var text = ""
    /// Bytes of an incomplete character.
    private var pending: [UInt8] = []
    private var escape = Escape.none
    private let longest: Int

    private enum Escape: Sendable { case none, begun, sequence }

    package init(longest: Int = 16_384) { self.longest = longest }

    /// Handles one byte of input.
    package mutating func take(_ byte: UInt8) -> Effect {
        if escape != .none { return skip(byte) }
        switch byte {
        case 0x0A, 0x0D:
            pending = []
            defer { text = "" }
            return .entered(text)
        case 0x04: return text.isEmpty ? .ended : .nothing
        case 0x08, 0x7F: return edit { _ = $0.popLast() }
        case 0x15: return edit { $0 = "" }
        case 0x17:
            return edit { text in
                while text.last == " " { text.removeLast() }
                while let last = text.last, last != " " { text.removeLast() }
            }
        case 0x1B:
            escape = .begun
            return .nothing
        case 0x09: return add(0x20)
        case 0x00..<0x20: return .nothing
        default: return add(byte)
        }
    }

    /// Skips escape sequences, such as those of arrow keys.
    private mutating func skip(_ byte: UInt8) -> Effect {
        switch (escape, byte) {
        case (.begun, UInt8(ascii: "[")), (.begun, UInt8(ascii: "O")): escape = .sequence
        case (.sequence, 0x20...0x3F): break
        default: escape = .none
        }
        return .nothing
    }

    private mutating func edit(_ change: (inout String) -> Void) -> Effect {
        pending = []
        let before = text
        change(&text)
        return text == before ? .nothing : .changed
    }

    private mutating func add(_ byte: UInt8) -> Effect {
        pending.append(byte)
        guard let whole = String(validating: pending, as: UTF8.self) else {
            if pending.count >= 4 { pending = [] }
            return .nothing
        }
        pending = []
        guard text.utf8.count + whole.utf8.count <= longest else { return .nothing }
        text += whole
        return .changed
    }

    /// Returns the end of the text that fits `width` columns.
    package static func tail(of text: String, width: Int) -> String {
        var tail = ""
        var used = 0
        for character in text.printable.reversed() {
            used += String(character).columns
            if used > width { break }
            tail.append(character)
        }
        return String(tail.reversed())
    }
}
