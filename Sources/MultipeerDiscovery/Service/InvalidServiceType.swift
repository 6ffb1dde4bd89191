/// Why a text is not a service type.
package enum InvalidServiceType: Error, Hashable, Sendable {
    /// It has this many characters, not 1 to 15.
    case length(Int)
    /// This letter is upper case.
    case upperCase(Character)
    /// This character is not `a`-`z`, `0`-`9` or `-`.
    case character(Character)
    /// No character is a letter.
    case noLetter
    /// A hyphen is first, last or next to another.
    case hyphen
}

extension InvalidServiceType: CustomStringConvertible {
    /// A human-readable description, on one line.
    package var description: String {
        switch self {
        case .length(let count): "a service type has 1 to 15 characters, not \(count)"
        case .upperCase(let letter): "a service type is lower case: it must not contain '\(letter)'"
        case .character(let character): "a service type contains only a-z, 0-9 and '-', not '\(character)'"
        case .noLetter: "a service type has at least one letter"
        case .hyphen: "a service type has no '-' at its start or end, and no two in a row"
        }
    }
}
