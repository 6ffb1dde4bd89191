import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

/// Returns the local peer of a session for which a vector, or a table, specifies little.
func stranger(
    _ uid: UID, instance: UInt64 = 1, preference: EncryptionPreference = .none, hasIdentity: Bool = false,
    fingerprint: Fingerprint? = Fingerprint([UInt8](repeating: 0xF1, count: 32))
) throws -> LocalPeer {
    LocalPeer(
        peer: try PeerID(validating: uid, displayName: "vector"), instance: instance, preference: preference,
        hasIdentity: hasIdentity, fingerprint: preference == .none ? nil : fingerprint)
}

extension LinkEstablishment {
    /// Issues data with an address that may be dialled.
    mutating func issue(
        for recipient: UID?, flags: ConnectionData.Flags = [], at now: Moment
    ) throws -> ConnectionData {
        let candidates = [Candidate(address: [192, 0, 2, 1], port: 49_152)].compactMap { $0 }
        let token = [UInt8](repeating: 0x70, count: 31) + [local.endpoint.uid.bytes[15]]
        return try connectionData(
            for: recipient, candidates: candidates, flags: flags, token: token, at: now)
    }
}

extension Moment {
    static let start = Moment(nanoseconds: 1_000_000_000_000)

    static func after(_ milliseconds: Int) -> Moment { start + .milliseconds(milliseconds) }
}

extension Frame {
    /// The header and the payload.
    var bytes: [UInt8] {
        var buffer = ByteBuffer()
        encode(into: &buffer)
        return buffer.takeAll()
    }
}

extension Endpoint {
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Endpoint.byteCount, let uid = UID(Array(bytes.prefix(16))) else { return nil }
        self.init(uid: uid, instance: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    var bytes: [UInt8] {
        uid.bytes + (0..<8).map { UInt8(truncatingIfNeeded: instance >> (56 - 8 * UInt64($0))) }
    }
}
