import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity
import TestSupport
import Testing

struct MembersForm: VectorBody {
    static let type = "members"
    let hex: Hex
    /// The preference of the session that receives it.
    let receiver: String
    let fields: Fields?

    struct Fields: Decodable, Equatable {
        let endpoint: Hex
        let sequence: UInt32
        let list: [Hex]
        let data: Hex
        let certificate: Hex
        let signature: Hex
    }
}

extension MembersForm.Fields {
    init(_ entry: Members) {
        endpoint = Hex(entry.origin.bytes)
        sequence = entry.sequence
        list = entry.members.map { Hex($0.bytes) }
        data = Hex(entry.blob)
        certificate = Hex(entry.certificate)
        signature = Hex(entry.signature)
    }
}

@Suite("11.4 Vectors of entries", .computing)
struct MembersVectorTests {
    @Test(
        "an entry is read, checked before anything else, and written back the same [mesh.entry] [mesh.signature]",
        arguments: try VectorFiles.all(MembersForm.self))
    func form(_ vector: Vector<MembersForm>) throws {
        let signer = Signer(certificate: [1]) { _ in nil }
        var mesh = Membership(
            Endpoint(uid: UID(high: 0, low: 1), instance: 1),
            signer: vector.body.receiver == "none" ? nil : signer, seed: 1)
        let link = ConnectionID(rawValue: 1)
        mesh.linked(link, to: Endpoint(uid: UID(high: 0, low: 2), instance: 1), isMesh: true, at: .start)
        var fault: Fault?
        do {
            let entry = try #require(try received(vector.body.hex.bytes))
            let written = Frame.members(entry).bytes.dropFirst(FrameHeader.byteCount)
            #expect(Array(written) == vector.body.hex.bytes)
            if vector.isValid { #expect(MembersForm.Fields(entry) == vector.body.fields) }
            try mesh.receive(entry, on: link, at: .start)
        } catch let error as FramingError {
            fault = Fault("frame", error.closeCode.name)
        } catch let violation as Violation {
            fault = Fault(check(violation), violation.closeCode.name)
        }
        #expect(merged(fault) == merged(vector.fault))
        #expect(mesh.entries.isEmpty != vector.isValid)
    }

    private func received(_ payload: [UInt8]) throws -> Members? {
        let header = FrameHeader(.members, length: payload.count)
        guard case .members(let entry) = try Frame(header, payload.span) else { return nil }
        return entry
    }

    private func check(_ violation: Violation) -> String {
        guard case .badEntry(let flaw) = violation else {
            return violation == .badSignature ? "signature" : "\(violation)"
        }
        return switch flaw {
        case .members: "list"
        case .data: "data"
        case .foreignData: "foreign"
        case .certificate: "certificate"
        case .foreignKey: "key"
        }
    }

    /// Three checks of the vectors are one in the code.
    private func merged(_ fault: Fault?) -> Fault? {
        guard let fault, ["endpoint", "mesh", "open"].contains(fault.check) else { return fault }
        return Fault("foreign", fault.code)
    }
}
