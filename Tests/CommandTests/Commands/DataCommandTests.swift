import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("4.1 Command: data inspect", .inTurns)
struct DataCommandTests {
    private static func blob() async throws -> [UInt8] {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [SocketAddress(.loopbackV4, port: 0)]
        let session = try Session(peer: PeerID(displayName: "ann"), configuration: configuration)
        return try await session.connectionData().bytes
    }

    private func inspect(_ bytes: [UInt8], _ options: String...) async throws -> Command.Ending {
        try await Command(["data", "inspect"] + options).finish(Array(Data(bytes).base64EncodedString().utf8))
    }

    @Test("valid data is explained field by field, all bytes of it, without the token")
    func valid() async throws {
        let blob = try await DataCommandTests.blob()
        let ending = try await inspect(blob)
        #expect(ending.code == 0)
        #expect(ending.errors.isEmpty)
        for text in [
            "connection data", "the peer named \"ann\"", "encryption: required", "valid for 86400 s",
            "127.0.0.1:",
            "SHA-256 of the certificate", "SHA-256 of everything before, correct",
            "\(blob.count) bytes, valid",
        ] { #expect(ending.text.contains(text), "\(text)") }
        let data = try ConnectionData(blob)
        let token = data.token.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(!ending.text.contains(token))
        #expect(try await inspect(blob, "--secret").text.contains(token))
    }

    @Test("data in an argument is used with a warning, and data of @FILE and of standard input without")
    func arguments() async throws {
        let blob = try await DataCommandTests.blob()
        let (folder, text) = (try Folder(), Data(blob).base64EncodedString())
        let path = try folder.write("\(text)\n", to: "ann.data")
        let warning = "other users of this machine can read the connection data in the arguments"
        let shown = try await Command.run("data", "inspect", text)
        #expect(shown.code == 0 && shown.errorLines.count == 1 && shown.errors.contains(warning))
        #expect(shown.text == (try await Command.run("data", "inspect", "@\(path)")).text)
        for (words, input) in [(["@\(path)"], ""), (["@-"], text)] {
            let silent = try await Command(["data", "inspect"] + words).finish(Array(input.utf8))
            #expect(silent.code == 0 && silent.errors.isEmpty)
        }
        // The data is the caller's own, so that it leads to no link.
        for (words, warns) in [
            (["--data", text], true), (["--data", "@\(path)"], false), (["--data", "@-"], false),
        ] {
            let ending = try await Command(["link", "--timeout", "1", "--listen", "127.0.0.1"] + words)
                .finish(Array("\(text)\n".utf8))
            #expect(ending.errors.contains(warning) == warns, "\(words) \(ending.errors)")
            #expect(ending.code == 1, "\(words) \(ending.errors)")
        }
    }

    @Test("the rows are contiguous, whatever the bytes are")
    func complete() async throws {
        let blob = try await DataCommandTests.blob()
        for count in 0...blob.count {
            let rows = Dissection(Array(blob.prefix(count))).rows
            #expect(rows.reduce(0) { $0 + $1.length } == count)
            #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.offset + $0.length == $1.offset })
        }
        for place in blob.indices {
            var damaged = blob
            damaged[place] ^= 0xff
            #expect(Dissection(damaged).rows.reduce(0) { $0 + $1.length } == blob.count)
        }
    }

    @Test("JSON has the same content")
    func json() async throws {
        let blob = try await DataCommandTests.blob()
        let text = try await inspect(blob, "--json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(text.output)) as? [String: Any])
        #expect(report["isValid"] as? Bool == true)
        #expect(report["failedCheck"] == nil)
        let fields = try #require(report["fields"] as? [[String: Any]])
        #expect(fields.first { $0["field"] as? String == "token" }?["hex"] == nil)
        #expect(fields.contains { $0["field"] as? String == "candidate" })
    }

    @Test(
        "damaged data is shown as far as possible, and the failed check is named",
        arguments: [
            (0, "check 2 failed: this is not connection data: it does not start with MPCD"),
            (4, "check 3 failed: connection data of version 254 is not understood, only version 1"),
            (5, "check 5 failed: the connection data is damaged: its checksum is wrong"),
            (30, "check 5 failed: the connection data is damaged: its checksum is wrong"),
        ])
    func damaged(_ place: Int, _ complaint: String) async throws {
        var blob = try await DataCommandTests.blob()
        blob[place] ^= 0xff
        let ending = try await inspect(blob)
        #expect(ending.code == 3)
        #expect(ending.errors == "multipeer: \(complaint)\n")
        #expect(ending.text.contains("not valid"))
        #expect(try await inspect(blob, "--json").text.contains("\"isValid\" : false"))
    }

    @Test("data is read from an argument, a file in either form, or standard input")
    func sources() async throws {
        let blob = try await DataCommandTests.blob()
        let base64 = Data(blob).base64EncodedString()
        let folder = try Folder()
        let text = try folder.write(base64, to: "text")
        try Data(blob).write(to: URL(filePath: folder.path("raw")))
        #expect(try await Command.run("data", "inspect", "--from", text).code == 0)
        #expect(try await Command.run("data", "inspect", "--from", folder.path("raw")).code == 0)
        #expect(try await Command.run("data", "inspect", input: Array("\(base64)\n".utf8)).code == 0)
        let bad = try await Command.run("data", "inspect", "!!!")
        #expect(bad.code == 3)
        #expect(
            bad.errors
                == "multipeer: invalid base64 (connection data is one line, as 'multipeer link --manual' prints it)\n"
        )
    }
}
