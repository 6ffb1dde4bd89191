import MultipeerCommandLine
import MultipeerEssentials

/// Bytes of a peer on their way to a terminal: text whose line ends and tabs are kept, with everything else escaped that could
/// control the terminal. A character may be split between two pieces, and so may an emoji of several.
package struct TerminalText: Sendable {
    /// The beginning of a character whose other bytes have not arrived.
    private var pending: [UInt8] = []
    /// The last characters, of which those from `shown` on have not been returned: whether an invisible one is part of an emoji,
    /// or a carriage return of a line end, depends on the next one.
    private var recent: [Unicode.Scalar] = []
    private var shown = 0

    /// As many as an emoji's invisible characters are judged by, in both directions.
    private static let mostRecent = 8

    package init() {}

    package mutating func render(_ piece: [UInt8]) -> [UInt8] {
        var bytes = pending + piece
        let kept = TerminalText.unfinished(bytes)
        pending = Array(bytes.suffix(kept))
        bytes.removeLast(kept)
        recent += String(decoding: bytes, as: UTF8.self).unicodeScalars
        let open = recent[shown...].suffix(TerminalText.mostRecent).reversed().prefix {
            $0.isHidden && !$0.isBreak
        }
        return escape(upTo: recent.count - open.count)
    }

    /// Returns the rest, once no more bytes follow.
    package mutating func finish() -> [UInt8] {
        recent += String(decoding: pending, as: UTF8.self).unicodeScalars
        pending = []
        return escape(upTo: recent.count)
    }

    private mutating func escape(upTo end: Int) -> [UInt8] {
        var text = ""
        for index in shown..<end {
            let scalar = recent[index]
            let isLineEnd = scalar == "\r" && recent.dropFirst(index + 1).first == "\n"
            if isLineEnd || scalar.isBreak || !scalar.isHidden
                || Unicode.Scalar.isShown(at: index, of: recent, isName: false)
            {
                text.unicodeScalars.append(scalar)
            } else {
                text += scalar.escaped
            }
        }
        let dropped = max(0, end - TerminalText.mostRecent)
        recent.removeFirst(dropped)
        shown = end - dropped
        return Array(text.utf8)
    }

    /// Returns how many bytes at the end are the beginning of a character.
    private static func unfinished(_ bytes: [UInt8]) -> Int {
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

extension Unicode.Scalar {
    /// Whether it moves to another place of the terminal, as text may.
    fileprivate var isBreak: Bool { self == "\n" || self == "\t" }
}
