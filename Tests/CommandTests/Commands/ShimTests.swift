import Foundation
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: shim", .inTurns)
struct ShimTests {
    private let annID = ShimProcess.annID
    private let bobID = ShimProcess.bobID

    @Test("two shims link, and exchange messages, a stream and a file")
    func exchange() async throws {
        let folder = try Folder()
        let (ann, bob) = try await ShimProcess.linked(["receiving": folder.path(".")])
        try await ann.call("send", ["to": [bobID], "hex": "68656c6c6f"])
        let message = try await bob.event("message", ["from": annID, "mode": "reliable", "session": "bob"])
        #expect(message["hex"] as? String == "68656c6c6f")
        try await bob.call("send", ["to": [annID], "size": 100_000])
        #expect(try await ann.event("message")["size"] as? Int == 100_000)

        let opened = try await ann.call("stream", ["to": bobID, "name": "log"])
        let stream: ShimProcess.Line = ["stream": try #require(opened["stream"])]
        try await ann.call("write", stream.merging(["size": 1_000_000]) { $1 })
        try await ann.call("finish", stream)
        #expect(try await bob.event("stream", ["name": "log"])["from"] as? String == annID)
        let end = try await bob.event("stream-end")
        #expect(end["size"] as? Int == 1_000_000 && end["error"] == nil)

        let path = try folder.write(String(repeating: "x", count: 300_000), to: "source")
        try await ann.call("resource", ["to": bobID, "path": path, "name": "../label"])
        #expect(try await bob.event("resource-start")["name"] as? String == "../label")
        let file = try await bob.event("resource-end")
        #expect(
            FileManager.default.contentsEqual(atPath: try #require(file["path"] as? String), andPath: path))
        #expect(try await ann.event("sent")["error"] == nil)
    }

    @Test(
        "a shim that does not start, or is none, is a fault of the run at once, and no case fails",
        arguments: [
            ("/nonexistent", "its process ended with 12"), ("false", "its process ended with 1"),
            ("cat", "it answers a request with a line that is no answer"),
        ])
    func noShim(_ shim: String, _ reason: String) async throws {
        let words = ["run", "--shim", shim, "--level", "code"]
        let ending = try await Command(words, program: "multipeer-conform").finish()
        #expect(ending.code == 3)
        #expect(ending.errors.hasPrefix("FAULT  shim  \(reason)"), "\(ending.errors)")
        #expect(ending.output.isEmpty)
    }

    @Test(
        "a section that no case is in is an error, to list and to run",
        arguments: ["list", "run", "selftest"])
    func section(_ command: String) async throws {
        let words = [command, "--section", "NOPE"]
        let ending = try await Command(words, program: "multipeer-conform").finish()
        #expect(ending.code == 2)
        #expect(ending.errors.hasPrefix("multipeer-conform: unknown section 'NOPE'"), "\(ending.errors)")
    }

    @Test("requests that are malformed or unknown are answered, and no other request is lost")
    func mistakes() async throws {
        let shim = try ShimProcess()
        try await shim.command.send(Array("garbage\n[1]\n{\"id\":7}\n".utf8))
        #expect(try await shim.answer(nil)["error"] as? String == "INTERNAL")
        #expect(try await shim.answer(nil)["error"] as? String == "INTERNAL")
        #expect(try await shim.answer(7)["error"] as? String == "INTERNAL")
        #expect(try await shim.ask("state")["error"] as? String == "INTERNAL")
        #expect(try await shim.ask("fly")["unimplemented"] as? Bool == true)
        let unknown = try await shim.ask("session", ["wings": 2])
        #expect(unknown["unimplemented"] as? Bool == true && unknown["parameter"] as? String == "wings")
        #expect(try await shim.ask("session", ["trust": "perhaps"])["unimplemented"] as? Bool == true)
        #expect(try await shim.ask("session", ["limits": ["depth": 1]])["unimplemented"] as? Bool == true)
        #expect(try await shim.ask("session", ["uid": "12"])["error"] as? String == "INTERNAL")
        try await shim.command.send([UInt8](repeating: 0x78, count: 3 << 20) + [10])
        #expect(try await shim.answer(nil)["error"] as? String == "INTERNAL")
        try await shim.call("session", ["name": "ann"])
        #expect(try await shim.call("stats")["fds"] as? Int ?? 0 > 3)
        try await shim.call("quit")
        let ending = try await shim.command.finish()
        #expect(ending.code == 0 && ending.errors.isEmpty)
    }

    @Test("unusable data is refused in the answer")
    func refusals() async throws {
        let (ann, bob) = try await ShimProcess.pair()
        let own = try #require(try await ann.call("data")["data"] as? String)
        #expect(try await ann.ask("connect", ["data": own])["error"] as? String == "SELF")
        #expect(try await ann.ask("connect", ["data": "00"])["error"] as? String == "PROTOCOL")
        let addressed = try #require(try await bob.call("data", ["peer": bobID])["data"] as? String)
        #expect(try await ann.ask("connect", ["data": addressed])["error"] as? String == "UNKNOWN_PEER")
        try await bob.call("session", ["name": "plain", "preference": "none"])
        let plain = try #require(try await bob.call("data")["data"] as? String)
        #expect(try await ann.ask("connect", ["data": plain])["error"] as? String == "POLICY")
        #expect(try await ann.ask("send", ["to": bobID, "hex": ""])["error"] as? String == "UNKNOWN_PEER")
    }

    @Test("connection data has the requested lifetime")
    func lifetime() async throws {
        let (ann, _) = try await ShimProcess.pair()
        let usual = try #require(try await ann.call("data", ["peer": bobID])["data"] as? String)
        for (seconds, hex) in [(2, "00000002"), (86_400, "00015180")] {
            let uid = String(format: "%032x", seconds)
            let data = try await ann.call("data", ["peer": uid, "lifetime": seconds])["data"] as? String
            // The entry LIFETIME: its type, its length of 4, the seconds.
            #expect(data?.contains("00060004" + hex) == true)
        }
        #expect(usual.contains("0006000400015180"))
        #expect(try await ann.ask("data", ["lifetime": 0])["error"] as? String == "INTERNAL")
        let mesh = try await ann.ask("data", ["lifetime": 2, "mesh": true])
        #expect(mesh["unimplemented"] as? Bool == true && mesh["parameter"] as? String == "lifetime")
    }

    @Test("a session grants what its limits allow, and everything arrives anyway")
    func windows() async throws {
        let (ann, bob) = try await ShimProcess.linked([
            "limits": ["messageCredit": 65_536, "channelCredit": 4_096]
        ])
        try await ann.call("send", ["to": bobID, "size": 1_000_000])
        #expect(try await bob.event("message")["size"] as? Int == 1_000_000)
        let opened = try await ann.call("stream", ["to": bobID, "name": "log"])
        let stream: ShimProcess.Line = ["stream": try #require(opened["stream"])]
        try await ann.call("write", stream.merging(["size": 200_000]) { $1 })
        try await ann.call("finish", stream)
        #expect(try await bob.event("stream-end")["size"] as? Int == 200_000)
        for limits in [["messageCredit": 4_095], ["channelCredit": 1 << 32]] {
            #expect(try await ann.ask("session", ["limits": limits])["error"] as? String == "INTERNAL")
        }
    }

    @Test("while an application reads nothing there are no events, and a stream that is held is not read")
    func holding() async throws {
        let (ann, bob) = try await ShimProcess.linked()
        try await bob.call("hold")
        try await ann.call("stream", ["to": bobID, "name": "held"])
        let stream = try await bob.event("stream")
        #expect(try await bob.call("stats")["buffered"] as? Int == 0)
        try await bob.call("take", ["stream": try #require(stream["stream"])])
        try await bob.call("pause")
        try await ann.call("send", ["to": bobID, "hex": "01"])
        try await ann.call("flush", ["to": bobID])
        try await bob.call("resume")
        #expect(try await bob.event("message")["hex"] as? String == "01")
        try await bob.call("abort", ["stream": try #require(stream["stream"]), "code": 20])
        #expect(try await ann.event("stream-end")["error"] as? String == "DECLINED")
    }

    @Test("two sessions of one shim run side by side, and each event names its session")
    func sessions() async throws {
        let (ann, bob) = try await ShimProcess.linked()
        try await ann.call("session", ["name": "cid"])
        try await ann.call("send", ["session": "ann", "to": bobID, "hex": "02"])
        try await bob.event("message", ["from": annID])
        let state = try await ann.call("state", ["session": "ann"])
        #expect((state["peers"] as? [String: String])?[bobID] == "connected")
        #expect((try await ann.call("state")["peers"] as? [String: String])?.isEmpty == true)
        try await bob.call("disconnect")
        let end = try await ann.event("state", ["session": "ann", "state": "notConnected"])
        #expect(end["reason"] as? String == "closedByPeer" && end["code"] as? String == "GOODBYE")
        let own = try await bob.event("state", ["state": "notConnected"])
        #expect(own["reason"] as? String == "left")
    }

    @Test("an invitation is dialled at the requested address, answered, and leads to a link")
    func invitation() async throws {
        let (ann, bob) = try await ShimProcess.pair()
        let port = try #require(try await bob.call("advertise", ["info": ["k": "v"]])["port"] as? Int)
        try await ann.call("invite", ["peer": bobID, "at": "127.0.0.1:\(port)", "context": "01ff"])
        let question = try await bob.event("invitation", ["from": annID, "context": "01ff"])
        try await bob.call("answer", ["invitation": try #require(question["invitation"]), "accept": true])
        #expect(try await ann.event("invite-result")["result"] as? String == "OK")
        #expect(try await bob.event("answer-result")["result"] as? String == "OK")
        try await bob.event("invitation-end")
        try await ann.call("code", ["peer": bobID])
        try await bob.event("code-requested", ["peer": annID])
        try await bob.call("code", ["peer": annID])
        let code = try await ann.event("code")["code"] as? String
        #expect(try await bob.event("code")["code"] as? String == code && code?.count == 12)
    }

    @Test("a file that does not fit on the disk is refused for lack of space, and nothing of it stays")
    func room() async throws {
        let (source, folder) = (try Folder(), try Folder())
        let (ann, bob) = try await ShimProcess.linked(["receiving": folder.path(".")])
        try await bob.call("limit", ["file": 65_536])
        let path = try source.write(String(repeating: "x", count: 300_000), to: "source")
        try await ann.call("resource", ["to": bobID, "path": path])
        #expect(try await bob.event("resource-end")["error"] as? String == "NO_SPACE")
        #expect(try await ann.event("sent")["error"] as? String == "NO_SPACE")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(".")).isEmpty)
    }

    @Test("the end of its input ends it with a goodbye, and so does a signal")
    func ending() async throws {
        let (ann, bob) = try await ShimProcess.linked()
        #expect(try await ann.command.finish().code == 0)
        let end = try await bob.event("state", ["state": "notConnected"])
        #expect(end["code"] as? String == "GOODBYE")
        bob.command.process.signal(SIGTERM)
        // Its input stays open: otherwise its end might be read before the signal.
        #expect(try await bob.command.finish(nil).code == 143)
    }
}
