/// The mangled name of a distributed method, parsed just far enough to find the type to which the method belongs.
///
/// `executeDistributedTarget` runs any target on any actor, even a method of another type, which reads and writes
/// memory at the wrong places. So a name is accepted only if it is certain to be a member of the type itself: the
/// type's own mangled name, possibly the mark of an extension, and the identifier of a member. The identifier of a
/// nested type is never accepted.
package struct TargetName {
    private let bytes: ArraySlice<UInt8>

    package init(_ target: String) { bytes = Array(target.utf8)[...] }

    /// Returns whether it is a distributed member of the type with the mangled name `type`.
    package func isMember(of type: [UInt8]) -> Bool {
        guard bytes.starts(with: TargetName.prefix), bytes.dropFirst(2).starts(with: type) else {
            return false
        }
        // The compiler generates a thunk for each distributed member.
        guard bytes.suffix(2).elementsEqual(TargetName.thunk), !isLocal else { return false }
        var rest = bytes.dropFirst(2 + type.count)
        guard TargetName.skipName(&rest) else { return false }
        if rest.first == UInt8(ascii: "E") {
            // The name before the mark was the module of an extension.
            rest = rest.dropFirst()
            guard TargetName.skipName(&rest) else { return false }
        }
        guard let next = rest.first else { return false }
        return !TargetName.kindsOfTypes.contains(next)
    }

    /// Whether the mark of an extension occurs with a name after it. An extension with constraints, in which a type
    /// may be nested, begins with a module's name like that of a member. Some type names contain the same letters.
    package var mayBeInExtension: Bool {
        zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: "E") && TargetName.digits.contains($1) }
    }

    /// Whether the method has generic parameters of its own. After `r` it has none: the method only constrains those
    /// of its type.
    package var isGeneric: Bool {
        bytes.suffix(4).elementsEqual("lFTE".utf8) && bytes.suffix(5).first != UInt8(ascii: "r")
    }

    /// Whether a type that is declared within a function occurs: `L`, possibly a number, `_`, and its kind.
    private var isLocal: Bool {
        var position = bytes.startIndex
        while let mark = bytes[position...].firstIndex(of: UInt8(ascii: "L")) {
            position = mark + 1
            let following = bytes[position...].drop { TargetName.digits.contains($0) }
            if following.first == UInt8(ascii: "_"), let kind = following.dropFirst().first,
                TargetName.kindsOfTypes.contains(kind)
            {
                return true
            }
        }
        return false
    }

    private static let prefix = Array("$s".utf8)
    private static let thunk = Array("TE".utf8)
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    /// Class (and actor), structure, enumeration, type alias, protocol, other.
    private static let kindsOfTypes = Array("CVOaPN".utf8)

    /// Skips an identifier, and after one that is private to a file, the file's mark and `LL`.
    private static func skipName(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard skipIdentifier(&rest) else { return false }
        var following = rest
        if skipIdentifier(&following), following.starts(with: privacy) {
            rest = following.dropFirst(privacy.count)
        }
        return true
    }

    private static let privacy = Array("LL".utf8)

    /// Skips an identifier: its length and its text; or, after a `0`, letters for words that occurred before, between
    /// parts of the text.
    private static func skipIdentifier(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, digits.contains(first) else { return false }
        var hasWords = false
        if first == UInt8(ascii: "0") {
            rest = rest.dropFirst()
            // `00` begins an identifier in Punycode.
            if rest.first == UInt8(ascii: "0") { rest = rest.dropFirst() } else { hasWords = true }
        }
        repeat {
            while hasWords, let letter = rest.first, isLetter(letter) {
                rest = rest.dropFirst()
                // A capital letter ends a row of words.
                if letter < UInt8(ascii: "a") { hasWords = false }
            }
            if rest.first == UInt8(ascii: "0") {
                rest = rest.dropFirst()
                return true
            }
            var length = 0
            while let digit = rest.first, digits.contains(digit), length < 10_000 {
                length = length * 10 + Int(digit - UInt8(ascii: "0"))
                rest = rest.dropFirst()
            }
            guard length > 0, length <= rest.count else { return false }
            rest = rest.dropFirst(length)
        } while hasWords
        return true
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
