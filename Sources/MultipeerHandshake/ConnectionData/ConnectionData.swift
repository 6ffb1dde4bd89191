public import MultipeerCore
package import MultipeerFraming
public import MultipeerSecurity

/// A peer's addresses, key and encryption preference: what two peers exchange before they link. Spec 4.
///
/// It contains a secret token, so exchange it over a channel that both peers trust. A value of this type has passed
/// every check of spec 4.1 that needs no session.
public struct ConnectionData: Sendable {
    /// The peer that issued it.
    public let peer: PeerID
    /// The peer's session that issued it: 8 random bytes as a number.
    public let instance: UInt64
    /// The peer's encryption preference.
    public let preference: EncryptionPreference
    /// SHA-256 of the certificate that the peer will present; nil exactly when its preference is none.
    public let fingerprint: Fingerprint?
    /// How long the issuer accepts it, in seconds of the issuer's own monotonic clock.
    public let lifetime: UInt32
    /// The peer for which it was issued; nil when any peer that receives it may use it.
    public let recipient: UID?
    /// Addresses to dial, the preferred one first; 1 to 16.
    package let candidates: [Candidate]
    /// What the peer offers or requests besides a link.
    package let flags: Flags
    /// SHA-256 of the encoded bytes, by which both sides refer to this data in HELLO. Spec 6.2.
    package let reference: [UInt8]
    private let encoded: SecureBytes
    private let secret: SecureBytes

    /// What the issuer offers or requests besides a link.
    package struct Flags: OptionSet, Hashable, Sendable {
        /// The flags on the wire; unknown ones are kept.
        package let rawValue: UInt8
        /// Creates flags from their value on the wire.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Links made with it introduce further members.
        package static let mesh = Flags(rawValue: 1)
        /// The fingerprint is of an identity, not of a key made for one session.
        package static let identity = Flags(rawValue: 2)
        /// Unreliable messages are accepted over UDP.
        package static let datagrams = Flags(rawValue: 4)
    }

    /// The encoded form, 24 to 1,024 bytes. It contains a secret.
    public var bytes: [UInt8] { encoded.bytes }
    /// The session that issued it.
    package var endpoint: Endpoint { Endpoint(uid: peer.uid, instance: instance) }
    package var token: [UInt8] { secret.bytes }

    /// Decodes and checks; throws the first of the numbered checks that fails. Spec 4.1.
    package init(parsing bytes: [UInt8]) throws(InvalidConnectionData) {
        let fields = try ConnectionDataFields(decoding: bytes)
        self.init(fields, encoded: bytes)
    }

    /// Encodes fields that this session made, which are therefore within the limits.
    init(_ fields: ConnectionDataFields, grease: UInt64?) throws(InvalidConnectionData) {
        self.init(fields, encoded: try fields.encoded(grease: grease))
    }

    private init(_ fields: ConnectionDataFields, encoded: [UInt8]) {
        peer = fields.peer
        instance = fields.instance
        preference = fields.preference
        fingerprint = fields.fingerprint
        lifetime = fields.lifetime
        recipient = fields.recipient
        candidates = fields.candidates
        flags = fields.flags
        reference = SHA256.hash(encoded)
        secret = SecureBytes(fields.token)
        self.encoded = SecureBytes(encoded)
    }
}

extension ConnectionData: Equatable {
    /// Returns whether the encoded bytes are equal.
    public static func == (one: ConnectionData, other: ConnectionData) -> Bool {
        one.reference == other.reference
    }
}

extension ConnectionData: CustomStringConvertible {
    /// The issuer; nothing secret.
    public var description: String { "connection data of \(peer)" }
}

/// Which of the numbered checks of spec 4.1 failed first.
package enum InvalidConnectionData: Error, Equatable, Sendable, CustomStringConvertible {
    case size(Int)
    case magic
    case version(UInt8)
    case length(stated: Int, actual: Int)
    case checksum
    case fields
    case peer
    case instance
    case preference
    case fingerprint
    case keyed
    case token
    case lifetime
    case recipient
    case candidates

    /// The number of the check in spec 4.1, from 1.
    package var check: Int {
        switch self {
        case .size: 1
        case .magic: 2
        case .version: 3
        case .length: 4
        case .checksum: 5
        case .fields: 6
        case .peer: 7
        case .instance: 8
        case .preference: 9
        case .fingerprint, .keyed: 10
        case .token: 11
        case .lifetime: 12
        case .recipient: 13
        case .candidates: 14
        }
    }

    /// The code with which such data is refused. Spec 16.
    package var closeCode: CloseCode {
        if case .version = self { return .version }
        return .protocolError
    }

    /// A human-readable description with a hint, on one line.
    package var description: String {
        switch self {
        case .size(let count): "connection data has 24 to 1,024 bytes, not \(count)"
        case .magic: "this is not connection data: it does not start with MPCD"
        case .version(let version): "connection data of version \(version) is not understood, only version 1"
        case .length(let stated, let actual):
            "the connection data should have \(stated) bytes, but has \(actual)"
        case .checksum: "the connection data is damaged: its checksum is wrong"
        case .fields: "the fields of the connection data are malformed"
        case .peer: "the connection data names no valid peer"
        case .instance: "the connection data has no valid instance"
        case .preference: "the connection data has no valid encryption preference"
        case .fingerprint: "the connection data's key fingerprint is missing, malformed or out of place"
        case .keyed: "the connection data's peer id is the hash of a key, and it names no identity"
        case .token: "the connection data has no valid token"
        case .lifetime: "the connection data has no valid lifetime"
        case .recipient: "the connection data's recipient is malformed"
        case .candidates: "the connection data has no valid addresses"
        }
    }
}
