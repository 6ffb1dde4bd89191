import MultipeerCore
import MultipeerSecurity
import TestSupport
import Testing

struct Dialling: VectorBody {
    static let type = "dialling"
    let family: Int
    let address: Hex
    let port: UInt16
    let loopbackIssued: Bool
    let dial: Bool
}

struct Outcome: VectorBody {
    static let type = "encryption-outcome"
    let one: Party
    let other: Party
    let outcome: String

    struct Party: Decodable {
        let preference: String
        let identity: Bool
    }
}

struct CertificateFingerprint: VectorBody {
    static let type = "fingerprint"
    let certificate: String
    let fingerprint: Hex
    let keyedUid: Hex
}

struct Pin: VectorBody {
    static let type = "pin"
    let chain: [String]
    let pinned: Hex
    /// Of the expected peer; nil for a random one.
    let uid: Hex?
}

@Suite("4.4 and 5 Vectors of dialling and of security", .computing)
struct SecurityVectorTests {
    @Test(
        "an address is dialled if the rules allow it [dial.forbidden] [dial.loopback]",
        arguments: try VectorFiles.all(Dialling.self))
    func dialling(_ vector: Vector<Dialling>) throws {
        let body = vector.body
        let candidate = try #require(Candidate(address: body.address.bytes, port: body.port))
        #expect((body.family == 4) == (body.address.bytes.count == 4))
        #expect(candidate.isDialable(allowingLoopback: body.loopbackIssued) == body.dial)
    }

    @Test(
        "the two preferences give the same outcome at either end [enc.outcome] [enc.identity]",
        arguments: try VectorFiles.all(Outcome.self))
    func outcome(_ vector: Vector<Outcome>) throws {
        let (one, other) = (vector.body.one, vector.body.other)
        let first = try #require(EncryptionPreference(name: one.preference))
        let second = try #require(EncryptionPreference(name: other.preference))
        let outcome = EncryptionPreference.Outcome.between(
            first, identity: one.identity, and: second, identity: other.identity)
        #expect((outcome == .encrypted ? "tls" : outcome.description) == vector.body.outcome)
        #expect((outcome == .refused ? Fault("outcome", "POLICY") : nil) == vector.fault)
        #expect(
            outcome == .between(second, identity: other.identity, and: first, identity: one.identity))
    }

    @Test(
        "a fingerprint is SHA-256 of the certificate, and a keyed uid of its key [uid.keyed]",
        arguments: try VectorFiles.all(CertificateFingerprint.self))
    func fingerprint(_ vector: Vector<CertificateFingerprint>) throws {
        let certificate = try certificate(vector.body.certificate)
        #expect(Hex(certificate.fingerprint.bytes) == vector.body.fingerprint)
        #expect(Hex(certificate.keyedUID.bytes) == vector.body.keyedUid)
    }

    @Test(
        "of a chain only the leaf is compared [tls.pin] [tls.dates] [tls.client-certificate] [chain.limit] [uid.proof]",
        arguments: try VectorFiles.all(Pin.self))
    func pin(_ vector: Vector<Pin>) throws {
        let chain = try vector.body.chain.map(certificate)
        let pinned = try #require(Fingerprint(vector.body.pinned.bytes))
        let uid = try vector.body.uid.map { try #require(UID($0.bytes)) } ?? UID(high: 1, low: 2)
        let fault: Fault? =
            switch ChainVerdict.on(chain, accepting: [CertificatePin(pinned, of: uid)]) {
            case .accepted: nil
            case .chainRefused: Fault("chain", "TLS")
            case .notPinned: Fault("pin", "TLS")
            case .keyTooWeak: Fault("strength", "TLS")
            case .foreignKey: Fault("key", "TLS")
            }
        #expect(fault == vector.fault)
    }

    private func certificate(_ name: String) throws -> Certificate {
        let all = try VectorFiles.decode([String: Hex].self, "vectors/certificates.json")
        return try Certificate(parsing: try #require(all[name]).bytes)
    }
}
