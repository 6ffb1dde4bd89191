import Foundation
import Multipeer
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite(
    "11.4 Keys of members over loopback", .inTurns,
    .enabled(if: OpenSSLClient.isPresent))
struct MemberKeyTests {
    @Test("members whose identities have keys of different types form one mesh [mesh.signature]")
    func types() async throws {
        let kinds = [
            "EC -pkeyopt ec_paramgen_curve:P-384", "ed25519", "RSA -pkeyopt rsa_keygen_bits:2048",
            "EC -pkeyopt ec_paramgen_curve:P-521", "ed448",
        ]
        var members = [try Member("generated")]
        for kind in kinds {
            let identity = try Self.identity(kind)
            members.append(try Member(kind, .loopback().with { $0.identity = identity }))
        }
        await members.joinInAChain()
        try await members.areAllLinked()
        await members.end()
    }

    @Test(
        "an identity with a certificate of more than 4,096 bytes is refused in a mesh, and works in a star [mesh.certificate]"
    )
    func large() async throws {
        let identity = try Self.identity("EC -pkeyopt ec_paramgen_curve:P-256", comment: 4_096)
        let configuration = Session.Configuration.loopback().with { $0.identity = identity }
        let error = #expect(throws: MultipeerError.self) {
            try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        }
        #expect(error?.description.contains("4,096 bytes") == true)
        let star = configuration.with { $0.topology = .star }
        let members = [try Member("ann", star), try Member("bob", star)]
        let data = try await members[1].session.connectionData(for: members[0].peer)
        _ = try await members[0].session.connectionData(for: members[1].peer)
        async let there: Void = members[1].session.connect(
            with: try await members[0].session.connectionData(for: members[1].peer))
        try await members[0].session.connect(with: data)
        try await there
        await members.end()
    }

    private static func identity(_ kind: String, comment: Int = 0) throws -> Identity {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "multipeer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let more = comment == 0 ? "" : " -addext nsComment=" + String(repeating: "x", count: comment)
        for command in [
            "genpkey -algorithm \(kind) -out key.pem",
            "req -x509 -key key.pem -out cert.pem -subj /CN=x -days 2" + more,
        ] {
            try ToolProcess.run(
                OpenSSLClient.path, command.split(separator: " ").map(String.init), in: directory)
        }
        let files = try ["key.pem", "cert.pem"].map { try Data(contentsOf: directory.appending(path: $0)) }
        return try Identity(parsing: files.flatMap { [UInt8]($0) })
    }
}
