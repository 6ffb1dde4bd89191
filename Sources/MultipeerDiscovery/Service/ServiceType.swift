/// The kind of peers that an application discovers: `chat` stands for `_chat._tcp.local`. Spec 12.2.
///
/// Peers find each other when their service types are equal. Unrelated applications should use different ones.
public struct ServiceType: Hashable, Sendable {
    /// 1 to 15 characters: lower-case letters, digits and hyphens.
    public let name: String

    /// Validates the name; see the public initialiser.
    package init(parsing name: String) throws(InvalidServiceType) {  // [service.type]
        guard (1...15).contains(name.count) else { throw .length(name.count) }
        for character in name {
            if ("A"..."Z").contains(character) { throw .upperCase(character) }
            guard ServiceType.characters.contains(character) else { throw .character(character) }
        }
        guard name.contains(where: ServiceType.letters.contains) else { throw .noLetter }
        guard name.first != "-", name.last != "-", !ServiceType.hasTwoHyphens(name) else { throw .hyphen }
        self.name = name
    }

    private static let letters: Set<Character> = Set("abcdefghijklmnopqrstuvwxyz")
    private static let characters: Set<Character> = letters.union("0123456789-")

    private static func hasTwoHyphens(_ name: String) -> Bool {
        zip(name, name.dropFirst()).contains { $0 == "-" && $1 == "-" }
    }
}

extension ServiceType: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
