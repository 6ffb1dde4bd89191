import Foundation
import MultipeerCore
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

struct CodeText: VectorBody {
    static let type = "code-text"
    let typed: String
    let code: String?
}

struct CodePassword: VectorBody {
    static let type = "code-password"
    let code: String
    let password: Hex
}

struct SPAKE2Run: VectorBody {
    static let type = "spake2"
    let a: String
    let b: String
    let password: Hex
    let scalarA: Hex
    let scalarB: Hex
    let additional: Hex
    let shareA: Hex
    let shareB: Hex
    let key: Hex
    let confirmationA: Hex
    let confirmationB: Hex
}

struct SPAKE2Share: VectorBody {
    static let type = "spake2-share"
    let password: Hex
    let scalar: Hex
    let share: Hex
}

@Suite("13.8 Vectors of codes of invitations", .computing)
struct CodeVectorTests {
    @Test(
        "a typed code is read, or refused with the reason [code.words]",
        arguments: try VectorFiles.all(CodeText.self))
    func text(_ vector: Vector<CodeText>) {
        do throws(InvalidInvitationCode) {
            let code = try InvitationCode(parsing: vector.body.typed)
            #expect(code.description == vector.body.code)
        } catch {
            let check =
                switch error {
                case .number: "number"
                case .wordCount: "count"
                case .word, .ambiguous: "word"
                }
            #expect(Fault(check, "NONE") == vector.fault)
        }
    }

    @Test(
        "a code makes the password of the formula [code.password]",
        arguments: try VectorFiles.all(CodePassword.self))
    func password(_ vector: Vector<CodePassword>) throws {
        let code = try InvitationCode(parsing: vector.body.code)
        let salt = Array("MPC/1 code\(code.number)".utf8)
        let password = try SPAKE2.password(Array(code.phrase.utf8), salt: salt)
        #expect(password == SecureBytes(vector.body.password.bytes))
    }

    @Test(
        "both ends of a run compute its shares, key and confirmations [code.password] [code.binding]",
        arguments: try VectorFiles.all(SPAKE2Run.self))
    func run(_ vector: Vector<SPAKE2Run>) throws {
        let body = vector.body
        let names = SPAKE2.Identities(a: Array(body.a.utf8), b: Array(body.b.utf8))
        let password = SecureBytes(body.password.bytes)
        let a = try SPAKE2(as: .a, password: password, scalar: SecureBytes(body.scalarA.bytes))
        let b = try SPAKE2(as: .b, password: password, scalar: SecureBytes(body.scalarB.bytes))
        #expect(Hex(a.share) == body.shareA)
        #expect(Hex(b.share) == body.shareB)
        let ofA = try a.keys(with: b.share, names, additionalData: body.additional.bytes)
        let ofB = try b.keys(with: a.share, names, additionalData: body.additional.bytes)
        for keys in [ofA, ofB] { #expect(keys.key == SecureBytes(body.key.bytes)) }
        #expect(Hex(ofA.confirmation) == body.confirmationA)
        #expect(Hex(ofB.confirmation) == body.confirmationB)
        #expect(ofA.verifies(ofB.confirmation) && ofB.verifies(ofA.confirmation))
    }

    @Test(
        "a share that is no usable point is refused [code.point]",
        arguments: try VectorFiles.all(SPAKE2Share.self))
    func share(_ vector: Vector<SPAKE2Share>) throws {
        let body = vector.body
        let end = try SPAKE2(
            as: .a, password: SecureBytes(body.password.bytes), scalar: SecureBytes(body.scalar.bytes))
        #expect(throws: SecurityFault.peer(.invalidPoint)) {
            _ = try end.keys(with: body.share.bytes, SPAKE2.Identities(a: [], b: []), additionalData: [])
        }
    }

    @Test("the list of words is the specification's [code.words]")
    func words() throws {
        let text = try String(contentsOf: VectorFiles.spec.appending(path: "words.txt"), encoding: .utf8)
        let listed = text.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(listed == CodeWords.all)
    }
}
