/// The identity of a peer: 16 random bytes that are compared, and a name that is only displayed. Spec 3.1.
///
/// Two ids made with the same name differ; an id that is archived and read back equals the original. The bytes are
/// self-asserted: what authenticates a peer is the key pinned by its connection data, and for identities the trust
/// policy.
public struct PeerID: Hashable, Sendable {
    /// The bytes that identify the peer.
    public let uid: UID
    /// 1 to 63 bytes of UTF-8 without control characters.
    public let displayName: String

    /// Throws when the name is empty, longer than 63 bytes of UTF-8 or contains control characters.
    package init(validating uid: UID, displayName: String) throws(InvalidPeerID) {
        guard DisplayName.isValid(displayName) else { throw .displayName }  // [peer.name]
        self.uid = uid
        self.displayName = displayName
    }

    /// Creates an id with any name; see `DisplayName.sanitized`. An empty one stands for a peer without a name.
    package init(uid: UID, sanitizing displayName: String) {
        let name = DisplayName.sanitized(displayName)
        self.uid = uid
        self.displayName = name.isEmpty ? "peer" : name
    }

    /// The id and its name as a single value: `uid 16 ‖ name`.
    public var archived: [UInt8] { uid.bytes + Array(displayName.utf8) }

    /// Reads what `archived` returned; throws for anything else.
    package init(parsing bytes: [UInt8]) throws(InvalidPeerID) {
        guard let uid = UID(Array(bytes.prefix(UID.byteCount))) else { throw .length }
        guard let name = String(validating: bytes.dropFirst(UID.byteCount), as: UTF8.self) else {
            throw .displayName
        }
        try self.init(validating: uid, displayName: name)
    }

    /// Returns whether the 16 bytes are equal, regardless of the names.
    public static func == (one: PeerID, other: PeerID) -> Bool { one.uid == other.uid }  // [peer.equal]

    /// Hashes the 16 bytes alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(uid) }

    /// A hash that is the same in every process, unlike `hashValue`: computed from the bytes, not from the name.
    /// Spec 3.1.
    package var hash: Int { Int(truncatingIfNeeded: uid.high ^ uid.low) }  // [peer.equal]
}

/// Archived as a single string: the bytes in hexadecimal, a space, the name.
extension PeerID: Codable {
    /// Reads what `encode` wrote; throws `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(text: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Writes a single value: the archived bytes.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private var text: String {
        let hex = uid.bytes.flatMap { [PeerID.digits[Int($0 >> 4)], PeerID.digits[Int($0 & 15)]] }
        return String(decoding: hex, as: UTF8.self) + " " + displayName
    }

    private init(text: String) throws(InvalidPeerID) {
        let bytes = Array(text.utf8)
        let values = bytes.prefix(2 * UID.byteCount).compactMap { PeerID.digits.firstIndex(of: $0) }
        guard values.count == 2 * UID.byteCount, bytes.dropFirst(values.count).first == UInt8(ascii: " ")
        else {
            throw .length
        }
        let uid = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        try self.init(parsing: uid + bytes.dropFirst(values.count + 1))
    }
}

extension PeerID: CustomStringConvertible {
    /// A human-readable description, on one line.
    public var description: String { displayName }
}

/// The reason why bytes or a name do not form a valid peer id.
package enum InvalidPeerID: Error, Equatable, Sendable, CustomStringConvertible {
    case length, displayName

    /// A human-readable description, on one line.
    package var description: String {
        switch self {
        case .length: "a peer id has 16 bytes, followed by a name"
        case .displayName: "a display name has 1 to 63 bytes of UTF-8 and no control characters"
        }
    }
}
