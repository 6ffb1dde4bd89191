import Foundation
import TestSupport
import Testing

@Suite("Command: identities", .inTurns)
struct IdentityCommandTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test("a new identity is a private file, and show prints its contents")
    func pem() async throws {
        let made = try await Command.run("identity", "new", "--name", "ann", "--out", folder.path("ann.pem"))
        #expect(made.code == 0)
        #expect(made.errors.isEmpty)
        #expect(try folder.mode("ann.pem") == 0o600)
        let shown = try await Command.run("identity", "show", folder.path("ann.pem"))
        #expect(shown.code == 0)
        for text in ["CN=ann", "P-256", "itself", "1 of 1", made.text.trimmingCharacters(in: .newlines)] {
            #expect(shown.text.contains(text))
        }
        let json = try await Command.run("identity", "show", "--json", folder.path("ann.pem"))
        let list = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [[String: Any]])
        #expect(list.count == 1)
        #expect(list.first?["fingerprint"] as? String == made.text.trimmingCharacters(in: .newlines))
        #expect(!shown.text.contains("PRIVATE"))
    }

    @Test("a file is replaced only on request")
    func force() async throws {
        let path = folder.path("a.pem")
        let first = try await Command.run("identity", "new", "--out", path)
        let second = try await Command.run("identity", "new", "--out", path)
        #expect(second.code == 4)
        #expect(second.errors == "multipeer: \(path) already exists (use --force to replace it)\n")
        #expect(second.output.isEmpty)
        #expect(try await Command.run("identity", "show", path).text.contains(first.text.dropLast()))
        let third = try await Command.run("identity", "new", "--force", "--out", path)
        #expect(third.code == 0)
        #expect(try await Command.run("identity", "show", path).text.contains(third.text.dropLast()))
    }

    @Test("PKCS#12 opens only with its passphrase")
    func archive() async throws {
        let path = folder.path("a.p12")
        let secret = try folder.write("correct horse\nbattery\n", to: "secret")
        let made = try await Command.run(
            "identity", "new", "--format", "pkcs12", "--passphrase-file", secret, "--out", path)
        #expect(made.code == 0)
        #expect(try await Command.run("identity", "show", "--passphrase-file", secret, path).code == 0)
        let known = ["MULTIPEER_PASSPHRASE": "correct horse"]
        #expect(try await Command.run("identity", "show", path, environment: known).code == 0)
        let wrong = try await Command.run(
            "identity", "show", path, environment: ["MULTIPEER_PASSPHRASE": "x"])
        #expect(wrong.code == 3)
        #expect(wrong.errors == "multipeer: \(path): the passphrase does not open the identity\n")
    }

    @Test("a request names the peer whose id the key proves, and is replaced only on request")
    func request() async throws {
        let path = folder.path("ann.pem")
        #expect(try await Command.run("identity", "new", "--out", path).code == 0)
        let out = folder.path("ann.csr")
        let made = try await Command.run(
            "identity", "request", path, "--name", "ann", "--out", out)
        #expect(made.code == 0)
        #expect(try await Command.run("identity", "request", path, "--out", out).code == 4)
        let file = try String(contentsOfFile: out, encoding: .utf8)
        let body = file.split(separator: "\n").dropFirst().dropLast().joined()
        #expect(file.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----\n"))
        let der = try #require(Data(base64Encoded: body))
        #expect(der.range(of: Data("urn:uuid:".utf8)) != nil)
        #expect(der.range(of: Data("ann".utf8)) != nil)
        let anonymous = try await Command.run("identity", "request", path, "--name", "ann", "--name-only")
        #expect(anonymous.code == 0)
        let other = anonymous.text.split(separator: "\n").dropFirst().dropLast().joined()
        #expect(try #require(Data(base64Encoded: other)).range(of: Data("urn:uuid:".utf8)) == nil)
        #expect(!anonymous.text.contains("PRIVATE"))
    }

    @Test("PEM goes to standard output without --out, and a file of it that is open to others is refused")
    func output() async throws {
        let made = try await Command.run("identity", "new")
        #expect(made.text.hasPrefix("-----BEGIN CERTIFICATE-----"))
        let path = try folder.writeSecret(made.text, to: "open.pem")
        #expect(try await Command.run("identity", "show", path).code == 0)
        for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            for words in [
                ["identity", "show", path], ["send", "--identity", path, "-"], ["link", "--id", path],
            ] {
                let ending = try await Command(words).finish()
                #expect(ending.code == 3)
                #expect(
                    ending.errors
                        == "multipeer: \(path) is open to other users, mode \(String(mode, radix: 8)): a private key "
                        + "has to be closed to them (run 'chmod 600 \(path)'; if others may have read it, make a new one)\n"
                )
            }
        }
    }

    @Test(
        "a FIFO is no place for a key that is kept; of a key in a pipe nothing is waited for, of a passphrase its writer"
    )
    func fifos() async throws {
        let fifo = try folder.makeFIFO("fifo")
        for words in [["identity", "show", fifo], ["link", "--identity", fifo]] {
            let ending = try await Command(words).finish()
            #expect(ending.code == 3)
            #expect(ending.errors.hasSuffix("\(fifo): the identity has no certificate\n"))
        }
        let kept = try await Command(["link", "--id", fifo]).finish()
        #expect(kept.code == 3 && kept.errors.contains("\(fifo) contains no peer id"))
        let path = folder.path("a.p12")
        async let made = Command.run(
            "identity", "new", "--format", "pkcs12", "--passphrase-file", fifo, "--out", path)
        let writer = try ToolProcess("/bin/sh", ["-c", "echo secret > '\(fifo)'"])
        #expect(await writer.end().code == 0)
        #expect(try await made.code == 0)
        let known = ["MULTIPEER_PASSPHRASE": "secret"]
        #expect(try await Command.run("identity", "show", path, environment: known).code == 0)
    }

    @Test("a file that is not an identity is refused with the reason")
    func refused() async throws {
        let empty = try await Command.run("identity", "show", folder.writeSecret("hello", to: "x"))
        #expect(empty.code == 3)
        #expect(empty.errors.hasSuffix(": the identity has no certificate\n"))
        let missing = try await Command.run("identity", "show", folder.path("nowhere"))
        #expect(missing.code == 4)
        #expect(
            missing.errors == "multipeer: cannot read \(folder.path("nowhere")): no such file or directory\n")
    }
}
