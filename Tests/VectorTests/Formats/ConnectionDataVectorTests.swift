import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

struct ConnectionDataForm: VectorBody {
    static let type = "connection-data"
    let hex: Hex
    let fields: Fields?
    let canonical: Bool?

    struct Fields: Decodable, Equatable {
        let flags: UInt8
        let mesh: Bool
        let identity: Bool
        let datagrams: Bool
        let uid: Hex
        let name: String
        let instance: Hex
        let preference: String
        let fingerprint: Hex?
        let token: Hex
        let lifetime: UInt32
        let recipient: Hex?
        let candidates: [Address]
        let reference: Hex

        private enum CodingKeys: CodingKey {
            case flags, mesh, identity, datagrams, uid, name, instance, preference, fingerprint, token,
                lifetime
            case recipient, candidates, reference
        }
    }

    struct Address: Decodable, Equatable {
        let family: Int
        let port: UInt16
        let address: Hex
    }
}

extension ConnectionDataForm.Fields {
    init(_ data: ConnectionData) {
        flags = data.flags.rawValue
        mesh = data.flags.contains(.mesh)
        identity = data.flags.contains(.identity)
        datagrams = data.flags.contains(.datagrams)
        uid = Hex(data.peer.uid.bytes)
        name = data.peer.displayName
        instance = Hex((0..<8).map { UInt8(truncatingIfNeeded: data.instance >> (56 - 8 * $0)) })
        preference = "\(data.preference)"
        fingerprint = data.fingerprint.map { Hex($0.bytes) }
        token = Hex(data.token)
        lifetime = data.lifetime
        recipient = data.recipient.map { Hex($0.bytes) }
        candidates = data.candidates.map {
            .init(family: $0.address.count == 4 ? 4 : 6, port: $0.port, address: Hex($0.address))
        }
        reference = Hex(data.reference)
    }
}

struct ConnectionDataAtSession: VectorBody {
    static let type = "connection-data-session"
    let hex: Hex
    let session: Party
    let outcome: String?

    struct Party: Decodable {
        let uid: Hex
        let preference: String
        let identity: Bool
        /// False if the session has issued no data that the peer may hold.
        let issued: Bool?
    }
}

@Suite("4 Vectors of connection data", .computing)
struct ConnectionDataVectorTests {
    @Test(
        "valid data gives its fields, invalid data the first check that fails [data.checksum] [data.flags] [data.peer] [data.keyed]",
        arguments: try VectorFiles.all(ConnectionDataForm.self))
    func form(_ vector: Vector<ConnectionDataForm>) throws {
        do throws(InvalidConnectionData) {
            let data = try ConnectionData(parsing: vector.body.hex.bytes)
            #expect(vector.isValid)
            #expect(ConnectionDataForm.Fields(data) == vector.body.fields)
            // What an issuer of version 1 writes for the same fields, unless they hold more than it knows.
            let fields = try ConnectionDataFields(decoding: vector.body.hex.bytes)
            let isKnown = data.flags.isSubset(of: [.mesh, .identity, .datagrams])
            let written = Hex(try fields.encoded(grease: nil))
            let isCanonical = isKnown && written == vector.body.hex
            #expect(isCanonical == (vector.body.canonical == true))
        } catch {
            #expect(Fault("\(error.check)", error.closeCode.name) == vector.fault)
        }
    }

    @Test(
        "a session accepts data that is meant for it, and no other [data.self] [data.recipient] [data.issued] [enc.outcome]",
        arguments: try VectorFiles.all(ConnectionDataAtSession.self))
    func session(_ vector: Vector<ConnectionDataAtSession>) throws {
        let party = vector.body.session
        let uid = try #require(UID(party.uid.bytes))
        let preference = try #require(EncryptionPreference(name: party.preference))
        var machine = try LinkEstablishment(
            stranger(uid, preference: preference, hasIdentity: party.identity), seed: 1)
        // What was issued for another peer is of no use.
        _ = try machine.issue(for: party.issued == false ? UID(high: 9, low: 9) : nil, at: .start)
        var fault: Fault?
        let data = try ConnectionData(parsing: vector.body.hex.bytes)
        do throws(LinkEstablishment.Refusal) {
            #expect(try machine.connect(with: data, zones: [], at: .start))
            #expect((machine.awaitsPlain ? "plain" : "tls") == vector.body.outcome)
        } catch {
            fault = Self.faults[error]
            #expect(machine.takeActions().isEmpty)
        }
        #expect(fault == vector.fault)
    }

    private static let faults: [LinkEstablishment.Refusal: Fault] = [
        .itself: Fault("self", "SELF"), .anotherRecipient: Fault("recipient", "UNKNOWN_PEER"),
        .incompatible: Fault("outcome", "POLICY"), .nothingIssued: Fault("issued", "UNKNOWN_PEER"),
    ]
}
