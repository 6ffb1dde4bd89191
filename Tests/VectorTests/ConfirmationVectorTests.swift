import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

struct Confirmation: VectorBody {
    static let type = "link-confirm"
    let role: String
    let tokenInitiator: Hex
    let tokenResponder: Hex
    let helloInitiator: Hex
    let helloResponder: Hex
    let binding: Hex
    let transcript: Hex
    let key: Hex
    let expectedMac: Hex
    let mac: Hex
}

@Suite("6.3 Vectors of CONFIRM", .computing)
struct ConfirmationVectorTests {
    @Test(
        "key, transcript and mac follow the formula, and any other mac is refused [confirm.mac] [confirm.role] [confirm.binding]",
        arguments: try VectorFiles.all(Confirmation.self))
    func confirmation(_ vector: Vector<Confirmation>) throws {
        let body = vector.body
        let key = LinkConfirmation.key(
            initiator: body.tokenInitiator.bytes, responder: body.tokenResponder.bytes)
        let transcript = LinkConfirmation.transcript(
            initiator: body.helloInitiator.bytes, responder: body.helloResponder.bytes)
        let mac = LinkConfirmation.mac(
            of: body.role == "initiator" ? .initiator : .responder, key: key, transcript: transcript,
            binding: body.binding.bytes)
        #expect(key.withBytes { Hex([UInt8](copying: $0)) } == body.key)
        #expect(Hex(transcript) == body.transcript)
        #expect(Hex(mac) == body.expectedMac)
        #expect(constantTimeEqual(mac, body.mac.bytes) == vector.isValid)
    }
}
