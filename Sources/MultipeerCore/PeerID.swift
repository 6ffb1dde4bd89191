/// The identity of a peer: 16 bytes that are compared, and a name that is only displayed. Spec 3.1.
///
/// Two ids made with the same name differ; an id that is archived and read back equals the original. Random bytes are
/// only a claim: what authenticates such a peer is the key pinned by its connection data, and for identities the trust
/// policy. Keyed ones (`UID.isKeyed`) are a hash of its key, which every connection with it proves. [uid.proof]
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

    /// The id and its name as they are sent: `uid 16 ‖ name`.
    package var field: [UInt8] { uid.bytes + Array(displayName.utf8) }

    /// The id and its name as a single value: `uid 16 ‖ name`, with a zero byte between for a keyed uid.
    public var archived: [UInt8] { uid.bytes + (uid.isKeyed ? [0] : []) + Array(displayName.utf8) }

    /// Reads what `field` returned; throws for anything else.
    package init(parsingField bytes: [UInt8]) throws(InvalidPeerID) {
        guard let uid = UID(Array(bytes.prefix(UID.byteCount))) else { throw .length }
        guard let name = String(validating: bytes.dropFirst(UID.byteCount), as: UTF8.self) else {
            throw .displayName
        }
        try self.init(validating: uid, displayName: name)
    }

    /// Reads what `archived` returned; throws for anything else. Without the zero byte the uid is random: one in 64 of those
    /// archived before there were keyed uids looks like one, and is read as a random one, always the same.
    package init(parsing bytes: [UInt8]) throws(InvalidPeerID) {
        let (uid, rest) = (Array(bytes.prefix(UID.byteCount)), bytes.dropFirst(UID.byteCount))
        let isKeyed = rest.first == 0
        let read = try PeerID(parsingField: uid + (isKeyed ? rest.dropFirst() : rest))
        guard !isKeyed || read.uid.isKeyed else { throw .displayName }
        self = isKeyed ? read : try PeerID(validating: read.uid.asRandom, displayName: read.displayName)
    }

    /// Returns whether the 16 bytes are equal, regardless of the names.
    public static func == (one: PeerID, other: PeerID) -> Bool { one.uid == other.uid }  // [peer.equal]

    /// Hashes the 16 bytes alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(uid) }

    /// A hash that is the same in every process, unlike `hashValue`: computed from the bytes, not from the name.
    /// Spec 3.1.
    package var hash: Int { Int(truncatingIfNeeded: uid.high ^ uid.low) }  // [peer.equal]
}

/// Archived as a single string: the bytes in hexadecimal, `#` if they are keyed, a space, the name.
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
        return String(decoding: hex, as: UTF8.self) + (uid.isKeyed ? "# " : " ") + displayName
    }

    private init(text: String) throws(InvalidPeerID) {
        let bytes = Array(text.utf8)
        let values = bytes.prefix(2 * UID.byteCount).compactMap { PeerID.digits.firstIndex(of: $0) }
        let rest = bytes.dropFirst(values.count)
        let mark: [UInt8] = rest.first == UInt8(ascii: "#") ? [0] : []
        guard values.count == 2 * UID.byteCount, rest.dropFirst(mark.count).first == UInt8(ascii: " ")
        else {
            throw .length
        }
        let uid = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        try self.init(parsing: uid + mark + rest.dropFirst(mark.count + 1))
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
