import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

/// The number behind a code, from its parts.
struct CodeValue: VectorBody {
    static let type = "verification-code"
    let key: Hex
    let controllingNonce: Hex
    let controlledNonce: Hex
    let commitment: Hex
    let mac: Hex
    let code: String
}

/// One end of a run, step by step.
struct CodeRun: VectorBody {
    struct Step: Decodable, Sendable {
        /// The frame that comes; none when the application asks.
        let hex: Hex?
        /// What happens: `receive`, `ask`, `confirm` or `decline`.
        let `do`: String
        let says: Hex?
        /// Whether the application is notified that the other side wants the code.
        let tells: Bool
    }

    static let type = "verification-code-run"
    let role: String
    let key: Hex
    let nonce: Hex
    let steps: [Step]
    let code: String?
    let confirmed: Bool
}

@Suite("13 Vectors of the verification code", .computing)
struct VerificationCodeVectorTests {
    @Test(
        "commitment and code follow the formula [sas.value] [sas.commit]",
        arguments: try VectorFiles.all(CodeValue.self))
    func value(_ vector: Vector<CodeValue>) {
        let body = vector.body
        let key = SecureBytes(body.key.bytes)
        let (ours, theirs) = (body.controllingNonce.bytes, body.controlledNonce.bytes)
        #expect(Hex(VerificationCode.commitment(to: SecureBytes(ours))) == body.commitment)
        #expect(Hex(HMAC.sha256(key: key, ours + theirs)) == body.mac)
        #expect(VerificationCode.digits(key: key, controlling: ours, controlled: theirs) == body.code)
    }

    @Test(
        "an end sends what is due once the application asks [sas.role] [sas.requested] [sas.reveal] [sas.once] [sas.order] [sas.result]",
        arguments: try VectorFiles.all(CodeRun.self))
    func run(_ vector: Vector<CodeRun>) throws {
        let body = vector.body
        var machine = VerificationCode(
            as: body.role == "controlling" ? .controlling : .controlled, key: SecureBytes(body.key.bytes),
            nonce: SecureBytes(body.nonce.bytes))
        var fault: Fault?
        for step in body.steps {
            #expect(fault == nil, "a step after the end")
            let frame = try step.hex.map(Self.frame)
            var (said, tells) = (Frame?.none, false)
            do throws(VerificationCode.Violation) {
                if let frame {
                    let answer = try machine.receive(frame)
                    if case .say(let due) = answer { said = due }
                    tells = answer == .tellApplication
                } else {
                    switch step.do {
                    case "confirm": said = machine.confirm()
                    case "decline": said = machine.decline()
                    default: said = machine.ask()
                    }
                }
            } catch {
                fault = Fault(error == .wrongReveal ? "reveal" : "order", error.closeCode.name)
            }
            #expect(said.map(Self.bytes) == step.says)
            #expect(tells == step.tells)
        }
        #expect(fault == vector.fault)
        let code = machine.code
        #expect(code == body.code)
        let isConfirmed = machine.isConfirmed
        #expect(isConfirmed == body.confirmed)
    }

    private static func frame(_ hex: Hex) throws -> Frame {
        let start = FrameHeader.byteCount
        return try Frame(
            FrameHeader(Array(hex.bytes[..<start]).span), Array(hex.bytes[start...]).span)
    }

    private static func bytes(_ frame: Frame) -> Hex {
        var buffer = ByteBuffer()
        frame.encode(into: &buffer)
        return Hex(buffer.takeAll())
    }
}
