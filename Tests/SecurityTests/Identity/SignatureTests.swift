import MultipeerSecurity
import TestSupport
import Testing

@Suite(
    "11.4 Signatures of entries", .computing, .enabled(if: OpenSSLTool.isPresent, "no /usr/bin/openssl"))
struct SignatureTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        let command: String
        let description: String
        var testDescription: String { command }
    }

    private static let kinds =
        OpenSSLFileTests.kinds.map { Kind(command: $0.command, description: $0.description) } + [
            Kind(command: "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521", description: "P-521"),
            Kind(command: "genpkey -algorithm ed448", description: "Ed448"),
            Kind(
                command: "genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048", description: "RSA-2048"),
        ]

    @Test(
        "a key of every type that TLS accepts signs, and only its certificate verifies [mesh.signature]",
        arguments: kinds)
    func types(_ kind: Kind) throws {
        let identity = try identity(kind.command)
        let certificate = identity.chain[0].der
        #expect(identity.chain[0].keyDescription == kind.description)
        let signer = try Signer(identity, certificateLimit: 4_096)
        let message = Array("a message".utf8)
        let signature = try #require(signer.sign(message))
        #expect(signature.count <= 1_024)
        func isValid(_ signature: [UInt8], _ message: [UInt8], _ certificate: [UInt8]) -> Bool {
            SignatureVerifier.standard.isValid(signature, of: message, by: certificate)
        }
        #expect(isValid(signature, message, certificate))
        #expect(!isValid(signature, message + [0], certificate))
        #expect(!isValid(signature, [], certificate))
        #expect(!isValid(signature + [0], message, certificate))
        #expect(!isValid(Array(signature.dropLast()), message, certificate))
        #expect(!isValid([], message, certificate))
        var changed = signature
        changed[changed.count / 2] ^= 1
        #expect(!isValid(changed, message, certificate))
        #expect(!isValid(signature, message, try Identity.generated().chain[0].der))
        #expect(!isValid(signature, message, certificate + [0]))
        #expect(!isValid(signature, message, []))
    }

    @Test(
        "a certificate of more than 4,096 bytes, or a key whose signatures are too costly, cannot sign [mesh.certificate]"
    )
    func refused() throws {
        let command = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"
        let size = try identity(command, comment: 3_000).chain[0].der.count
        let largest = try identity(command, comment: 3_000 + 4_096 - size - 8)
        #expect(try Signer(largest, certificateLimit: 4_096).certificate.count <= 4_096)
        let larger = try identity(command, comment: 3_000 + 4_096 - size + 8)
        #expect(throws: SecurityFault.local(.certificateTooLarge)) {
            try Signer(larger, certificateLimit: 4_096)
        }
        let slow = try identity(
            "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:4294967311")
        #expect(throws: SecurityFault.local(.unsupportedKey("RSA-2048"))) {
            try Signer(slow, certificateLimit: 4_096)
        }
    }

    private func identity(_ command: String, comment: Int = 0) throws -> Identity {
        let tool = try OpenSSLTool()
        try tool.run("\(command) -out key.pem")
        let more = comment == 0 ? "" : " -addext nsComment=" + String(repeating: "x", count: comment)
        try tool.run("req -x509 -key key.pem -out cert.pem -subj /CN=x -days 2" + more)
        return try Identity(parsing: try tool.read("key.pem", "cert.pem"))
    }
}
