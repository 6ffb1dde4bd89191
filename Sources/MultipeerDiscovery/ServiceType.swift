/// What kind of peers an application looks for: `chat` stands for `_chat._tcp.local`. Spec 12.2.
///
/// Peers find each other when their service types are equal. Two applications that do not belong together should have
/// different ones.
public struct ServiceType: Hashable, Sendable {
    /// 1 to 15 characters: lower-case letters, digits and hyphens.
    public let name: String

    /// Throws `InvalidServiceType` unless `name` has 1 to 15 characters, all of them `a`-`z`, `0`-`9` or `-`, at least one
    /// of them a letter, and no hyphen that is first, last or next to another (RFC 6335, 5.1).
    public init(_ name: String) throws(InvalidServiceType) {
        self.name = name
    }
}

extension ServiceType: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
