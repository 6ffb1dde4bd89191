import Foundation
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: demo", .serialized, .inTurns)
struct DemoCommandTests {
    @Test(
        "three processes link and exchange messages, and the output shows what protects them",
        .longForSanitizers)
    func three() async throws {
        let ending = try await Command.run("--seconds", "1", program: "multipeer-demo")
        #expect(ending.code == 0)
        #expect(ending.errors.isEmpty)
        for text in [
            "started ann (process ", "linked ann and bob, encrypted (found ", ", invited ", "3 of 3 links",
            "bob to ann: hello ann, this is bob",
            "ann to bob: the file ann.bin, 16 MiB in ", "... at both ends",
            "ann to bob: the stream dots, 8.0 MiB in ",
            "datagrams of 100 bytes, ", "arrived over UDP with DTLS 1.2", "TLS 1.3, TLS_AES_",
            "unverified: found on the network", "MiB/s", "all 3 processes have ended",
        ] { #expect(ending.text.contains(text), "\(text)") }
    }

    @Test("JSON lists every pair, with the outcome of its preferences", .longForSanitizers)
    func json() async throws {
        let ending = try await Command.run(
            "--preference", "none", "--seconds", "1", "--json", program: "multipeer-demo")
        #expect(ending.code == 0)
        let pairs = try #require(
            try JSONSerialization.jsonObject(with: Data(ending.output)) as? [[String: Any]])
        #expect(pairs.count == 3)
        for pair in pairs {
            let link = try #require(pair["link"] as? [String: Any])
            let protection = try #require(link["protection"] as? [String: Any])
            #expect(protection["isEncrypted"] as? Bool == false)
            let found = try #require(link["found"] as? Double)
            #expect(try #require(link["linked"] as? Double) > found && found > 0)
            let speed = try #require(pair["speed"] as? [String: Any])
            #expect(try #require(speed["bytesPerSecond"] as? Double) > 0)
            let delivery = try #require(pair["delivery"] as? [String: Any])
            #expect((delivery["stream"] as? [String: Any])?["bytes"] as? Int == 8 << 20)
            #expect(((delivery["file"] as? [String: Any])?["digest"] as? String)?.count == 64)
            #expect(try #require(delivery["datagramsArrived"] as? Int) > 0)
        }
    }

    @Test("processes that find each other become a mesh, and its links are shown as they are made")
    func mesh() async throws {
        let ending = try await Command.run("--peers", "4", program: "multipeer-demo")
        #expect(ending.code == 0)
        #expect(ending.errors.isEmpty)
        for text in [
            "on this machine only\n", "linked bob and cid, encrypted (found ", "1 of 6 links",
            "6 of 6 links", "mesh complete after ",
            "  ann: bob, cid, dan\n", "  dan: ann, bob, cid\n", "cid to all: hello from cid\n",
            "all messages received, ", "all 4 processes have ended",
        ] { #expect(ending.text.contains(text), "\(text)") }
    }

    @Test("JSON lists every link of the mesh, and when the mesh was complete")
    func meshJSON() async throws {
        let ending = try await Command.run(
            "--peers", "3", "--preference", "none", "--json", program: "multipeer-demo")
        #expect(ending.code == 0)
        let mesh = try #require(
            try JSONSerialization.jsonObject(with: Data(ending.output)) as? [String: Any])
        let links = try #require(mesh["links"] as? [[String: Any]])
        #expect(links.count == 3)
        #expect(links.allSatisfy { ($0["linked"] as? Double ?? 0) > 0 })
        #expect(try #require(mesh["seconds"] as? Double) > 0)
    }

    @Test("one key log holds the secrets of every link, its datagrams and its invitation")
    func keyLog() async throws {
        let folder = try Folder()
        let ending = try await Command.run(
            "--peers", "2", "--keylog", folder.path("keys"), program: "multipeer-demo")
        #expect(ending.code == 0)
        #expect(try folder.mode("keys") == 0o600)
        let text = try String(contentsOfFile: folder.path("keys"), encoding: .utf8)
        let names = text.split(separator: "\n").map { $0.prefix { $0 != " " } }
        // Both ends write down the same; a datagram path may need a second attempt, an invitation may go both ways.
        #expect(names.filter { $0 == "CLIENT_RANDOM" }.count >= 2)
        #expect(names.filter { $0 == "EXPORTER_SECRET" }.count >= 4)
        let refused = try await Command.run(
            "--keylog", folder.path("missing/keys"), program: "multipeer-demo")
        #expect(refused.code == 4 && refused.text.isEmpty)
    }

    @Test("an interrupted demonstration leaves no process running")
    func interrupted() async throws {
        let demo = try Command(["--seconds", "20"], program: "multipeer-demo")
        let list = try await demo.firstLine()
        let ids = list.matches(of: /process (\d+)/).compactMap { Int32($0.1) }
        #expect(ids.count == 3)
        demo.process.signal(SIGINT)
        #expect(try await demo.finish().code == 130)
        for id in ids { #expect(!FileManager.default.fileExists(atPath: "/proc/\(id)")) }
    }
}
