import MultipeerEssentials

/// What a terminal sends for its keys, byte by byte. A character or an escape sequence may be split between reads.
///
/// ```
///            ESC            [             final byte
///   ground ──────▶ escape ──────▶ sequence ──────────▶ ground
///     ▲  ▲           │  │ O
///     │  │ other     │  └───────▶ letter ──any──▶ ground
///     │  └───────────┘
///     └─ "ESC [ 200 ~" begins pasted text, "ESC [ 201 ~" ends it
/// ```
package struct KeyDecoder: Equatable, Sendable {
    package enum Key: Equatable, Sendable {
        /// A character, or a part of one; a line break only within pasted text.
        case text(Unicode.Scalar)
        case enter, tab, backspace, delete
        case left, right, wordLeft, wordRight, home, end, up, down
        case eraseToStart, eraseToEnd, eraseWord, eraseNextWord, yank
        case clearScreen
        /// Ctrl-D, which is the end of the input on an empty line, and otherwise deletes.
        case endOfInput
        /// Ctrl-Z, on a terminal that does not turn it into a signal.
        case suspend
    }

    private enum State: Equatable, Sendable {
        case ground, escape, letter
        /// The parameters so far.
        case sequence([UInt8])
    }

    private var state = State.ground
    /// Bytes of an incomplete character.
    private var pending: [UInt8] = []
    private var isPasting = false
    private var wasReturn = false

    /// Longer sequences are no keys.
    private static let mostParameters = 16

    package init() {}

    /// Returns the key that the byte completes.
    package mutating func take(_ byte: UInt8) -> Key? {
        switch state {
        case .ground: return byte < 0x80 ? takeASCII(byte) : takeByte(byte)
        case .escape:
            state = .ground
            switch byte {
            case UInt8(ascii: "["): state = .sequence([])
            case UInt8(ascii: "O"): state = .letter
            case 0x1B: state = .escape
            case 0x00..<0x20: return takeASCII(byte)
            default: return isPasting ? nil : KeyDecoder.meta[byte]
            }
            return nil
        case .letter:
            state = .ground
            if byte < 0x20 { return takeASCII(byte) }
            return isPasting ? nil : KeyDecoder.letters[byte]
        case .sequence(let parameters): return takeSequence(byte, parameters)
        }
    }

    private mutating func takeSequence(_ byte: UInt8, _ parameters: [UInt8]) -> Key? {
        switch byte {
        case 0x20...0x3F:
            if parameters.count <= KeyDecoder.mostParameters { state = .sequence(parameters + [byte]) }
            return nil
        case 0x40...0x7E:
            state = .ground
            return key(byte, String(decoding: parameters, as: UTF8.self))
        default:
            state = .ground
            return byte < 0x80 ? takeASCII(byte) : takeByte(byte)
        }
    }

    private mutating func key(_ final: UInt8, _ parameters: String) -> Key? {
        if final == UInt8(ascii: "~"), parameters == "200" || parameters == "201" {
            isPasting = parameters == "200"
            wasReturn = false
            return nil
        }
        if isPasting { return nil }
        let numbers = parameters.pieces(at: ";", keepingEmpty: true)
        if final == UInt8(ascii: "~") { return numbers.first.flatMap { KeyDecoder.numbers[String($0)] } }
        let key = KeyDecoder.letters[final]
        // With Ctrl or Alt an arrow moves by a word.
        guard numbers.count == 2, ["3", "5"].contains(numbers[1]) else { return key }
        switch key {
        case .left: return .wordLeft
        case .right: return .wordRight
        default: return key
        }
    }

    private mutating func takeASCII(_ byte: UInt8) -> Key? {
        pending = []
        if byte == 0x1B {
            state = .escape
            return nil
        }
        if isPasting { return takePasted(byte) }
        guard byte >= 0x20, byte != 0x7F else { return KeyDecoder.controls[byte] }
        return .text(Unicode.Scalar(byte))
    }

    /// In pasted text a line break does not enter the line, and other control characters have no effect.
    private mutating func takePasted(_ byte: UInt8) -> Key? {
        defer { wasReturn = byte == 0x0D }
        switch byte {
        case 0x0A where wasReturn: return nil
        case 0x0A, 0x0D: return .text("\n")
        case 0x09: return .text(" ")
        case 0x00..<0x20, 0x7F: return nil
        default: return .text(Unicode.Scalar(byte))
        }
    }

    /// Takes a byte of a character of several. Bytes that make none are dropped.
    private mutating func takeByte(_ byte: UInt8) -> Key? {
        if byte >= 0xC0 { pending = [] }
        pending.append(byte)
        let length = pending[0] >= 0xF0 ? 4 : pending[0] >= 0xE0 ? 3 : pending[0] >= 0xC0 ? 2 : 1
        guard pending.count >= length else { return nil }
        defer { pending = [] }
        guard let scalar = String(validating: pending, as: UTF8.self)?.unicodeScalars.first,
            scalar.properties.generalCategory != .control
        else { return nil }
        wasReturn = false
        return .text(scalar)
    }

    private static let controls: [UInt8: Key] = [
        0x01: .home, 0x02: .left, 0x04: .endOfInput, 0x05: .end, 0x06: .right, 0x08: .backspace, 0x09: .tab,
        0x0A: .enter, 0x0B: .eraseToEnd, 0x0C: .clearScreen, 0x0D: .enter, 0x0E: .down, 0x10: .up,
        0x15: .eraseToStart, 0x17: .eraseWord, 0x19: .yank, 0x1A: .suspend, 0x7F: .backspace,
    ]
    /// After ESC: with Alt.
    private static let meta: [UInt8: Key] = [
        UInt8(ascii: "b"): .wordLeft, UInt8(ascii: "f"): .wordRight, UInt8(ascii: "d"): .eraseNextWord,
        0x7F: .eraseWord,
    ]
    private static let letters: [UInt8: Key] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
        UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end,
    ]
    private static let numbers: [String: Key] = [
        "1": .home, "3": .delete, "4": .end, "7": .home, "8": .end,
    ]
}
