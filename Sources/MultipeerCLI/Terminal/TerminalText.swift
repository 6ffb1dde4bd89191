import MultipeerCommandLine

/// Bytes of a peer on their way to a terminal: text whose line ends and tabs are kept, with everything else escaped that could
/// control the terminal. A character may be split between two pieces.
package struct TerminalText: Sendable {
    /// The beginning of a character, or a carriage return that may be part of a line end.
    private var pending: [UInt8] = []

    package init() {}

    package mutating func render(_ piece: [UInt8]) -> [UInt8] {
        var bytes = pending + piece
        let kept = TerminalText.unfinished(bytes)
        pending = Array(bytes.suffix(kept))
        bytes.removeLast(kept)
        return TerminalText.escape(bytes)
    }

    /// Returns the rest, once no more bytes follow.
    package mutating func finish() -> [UInt8] {
        defer { pending = [] }
        return TerminalText.escape(pending)
    }

    private static func escape(_ bytes: [UInt8]) -> [UInt8] {
        var text = ""
        var scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch (scalar, scalars.first) {
            case ("\n", _), ("\t", _), ("\r", "\n"): text.unicodeScalars.append(scalar)
            default: text += String(scalar).printable
            }
        }
        return Array(text.utf8)
    }

    /// Returns how many bytes at the end belong to something whose rest has not arrived.
    private static func unfinished(_ bytes: [UInt8]) -> Int {
        if bytes.last == UInt8(ascii: "\r") { return 1 }
        for count in 1...3 {
            guard let byte = bytes.dropLast(count - 1).last else { return 0 }
            switch byte {
            case 0x80...0xBF: continue
            case 0xC2...0xDF: return count < 2 ? count : 0
            case 0xE0...0xEF: return count < 3 ? count : 0
            case 0xF0...0xF4: return count < 4 ? count : 0
            default: return 0
            }
        }
        return 0
    }
}
