import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: chat", .serialized, .inTurns)
struct ChatCommandTests {
    private let company: ChatProcesses

    init() throws { company = try ChatProcesses() }

    @Test("three peers in a chain receive each other's lines, and a line can be sent to one peer alone")
    func three() async throws {
        let people = try await company.chain(["ann", "bob", "cid"])
        try await people[0].types("hello")
        try await people[0].types("@cid psst")
        try await people[0].types("/to bob you, too")
        #expect(try await people[1].firstLine() == "ann: hello")
        #expect(try await people[1].firstLine() == "ann > you: you, too")
        #expect(try await people[2].firstLine() == "ann: hello")
        #expect(try await people[2].firstLine() == "ann > you: psst")
        try await people[2].types("/who")
        let row = "linked, encrypted, TLS_AES_128_GCM_SHA256, unverified: "
        let rows = [
            "cid  you", "ann  \(row)introduced by another member",
            "bob  \(row)connection data carried by hand",
        ]
        #expect(try await people[2].says(all: rows) == [])
        try await people[2].types("\u{1b}[2J\u{202e}x")
        #expect(try await people[0].firstLine() == "cid: \\u{1b}[2J\\u{202e}x")
        for one in people {
            let ending = try await one.leaves()
            #expect(ending.code == 0)
            #expect(!ending.errors.contains("\u{1b}"))
            #expect(ending.errorLines.count + 1 == ending.errors.split(separator: "\n").count)
        }
        for name in ["ann", "bob", "cid"] { #expect(!company.folder.exists("\(name).data")) }
    }

    @Test("a long line arrives whole, and one that is too long is not sent, which its sender reads")
    func long() async throws {
        let people = try await company.chain(["ann", "bob"])
        // What bob's output holds while it is not read.
        let text = String(repeating: "0123456789", count: 4_000)
        try await people[0].types(text)
        try await people[0].types(String(repeating: "x", count: 300_000))
        #expect(try await people[0].says("a line has at most 262144 bytes; this one was not sent"))
        #expect(try await people[0].leaves().code == 0)
        #expect(try await people[1].says("ann left"))
        let ending = try await people[1].leaves()
        #expect(ending.code == 0)
        #expect(ending.output == Array("ann: \(text)\n".utf8))
    }

    @Test(
        "joining and leaving are reported with reasons, and the room outlives the peer that introduced it"
    )
    func departures() async throws {
        let people = try await company.chain(["ann", "bob", "cid", "dan"])
        people[1].process.signal(SIGKILL)
        for one in [people[0], people[2], people[3]] {
            #expect(try await one.says("bob disconnected: the connection was lost"))
        }
        people[2].process.signal(SIGINT)
        #expect(try await people[0].says("cid left"))
        #expect(try await people[2].finish().code == 130)
        try await people[3].types("still here")
        #expect(try await people[0].firstLine() == "dan: still here")
        try await people[3].types("/quit")
        #expect(try await people[0].says("dan left"))
        try await people[0].types("hello?")
        #expect(try await people[0].says("nobody else is in the room; message not sent"))
        #expect(try await people[0].leaves().code == 0)
        #expect(try await people[3].finish().code == 0)
    }

    @Test("lines that a peer has not confirmed when its link ends are named, and those before are not")
    func unconfirmed() async throws {
        let people = try await company.chain(["ann", "bob"])
        try await people[0].types("hello")
        #expect(try await people[1].firstLine() == "ann: hello")
        // What comes after the answer shows that this has come, too.
        try await people[1].types("hi")
        #expect(try await people[0].firstLine() == "bob: hi")
        // The system takes what comes, and the process nothing.
        try await people[1].suspend()
        try await people[0].types("are you there?")
        try await people[0].types("@bob psst")
        // Once it lists the peers, it has read both.
        try await people[0].types("/peers")
        #expect(try await people[0].says("bob  linked"))
        people[1].process.signal(SIGKILL)
        // As lines that may not have arrived, or were not sent, if the link had not taken them yet.
        #expect(
            try await people[0].says(all: ["bob: are you there?", "bob: psst"]) == [], "\(people[0].written)")
        let ending = try await people[0].leaves()
        #expect(ending.code == 0 && !ending.errors.contains("bob: hello"))
    }

    @Test("a script's lines wait until another peer has joined, and --quiet prints no messages")
    func script() async throws {
        let bob = try company.join("bob", from: ["ann"], ["--quiet"])
        let ann = try company.join("ann", from: ["bob"], ["--quiet"])
        async let ending = ann.finish(Array("hello\n\nthere\n".utf8))
        #expect(try await bob.firstLine() == "ann: hello")
        #expect(try await bob.firstLine() == "ann: there")
        for one in [try await ending, try await bob.leaves()] {
            #expect(one.code == 0)
            #expect(one.errors.isEmpty && one.output.isEmpty, "\(one.errors)")
        }
    }

    @Test("data can be typed, also without the command, and unusable data is reported")
    func typed() async throws {
        let ann = try company.join("ann", from: [])
        let bob = try company.join("bob", from: ["ann"])
        #expect(try await bob.says("connecting to ann"))
        try await ann.types("/add !")
        #expect(try await ann.says("invalid base64"))
        try await ann.types("@eve hello")
        #expect(try await ann.says("no peer is named 'eve', and nothing was sent; no other peer is here"))
        try await ann.types("/peer")
        #expect(try await ann.says("unknown command /peer; did you mean /peers?"))
        try await ann.types(try String(contentsOfFile: company.data("bob"), encoding: .utf8))
        #expect(try await ann.says("bob joined, encrypted"))
        try await bob.types("@eve hello")
        #expect(try await bob.says("no peer is named 'eve', and nothing was sent; here are: ann"))
        try await bob.types("@anna hello")
        #expect(try await bob.says("no peer is named 'anna', and nothing was sent; did you mean 'ann'?"))
        try await bob.types("@Ann hello")
        #expect(try await ann.firstLine() == "bob > you: hello")
        try await bob.types("/leave")
        #expect(try await bob.finish().code == 0)
        #expect(try await ann.leaves().output.isEmpty)
    }

    @Test("two peers with one name are told apart, and each can be addressed")
    func sameName() async throws {
        let bob = try company.join("bob", from: ["1", "2"])
        let people = try ["1", "2"].map { try company.join("ann", file: $0, from: ["bob"]) }
        for one in people { #expect(try await one.says(all: ["bob joined", "ann#"]) == []) }
        #expect(try await bob.says("ann is now shown as ann#"))
        for file in ["1", "2"] {
            let text = try String(contentsOfFile: company.data(file), encoding: .utf8)
            let data = try ConnectionData(try #require(Base64.decode(text)))
            try await bob.types("@ann#\(data.peer.uid.bytes.hexadecimal.prefix(4)) you are \(file)")
        }
        #expect(try await people[0].firstLine() == "bob > you: you are 1")
        #expect(try await people[1].firstLine() == "bob > you: you are 2")
        try await bob.types("@ann hello")
        #expect(try await bob.says("no peer is named 'ann', and nothing was sent; here are: ann#"))
        for one in people + [bob] { #expect(try await one.leaves().code == 0) }
    }

    @Test("an offer that its sender withdraws is dropped")
    func withdrawn() async throws {
        let ann = try company.join("ann", from: ["bob"])
        #expect(try await ann.says("waiting for"))
        let text = try String(contentsOfFile: company.data("ann"), encoding: .utf8)
        var configuration = Session.Configuration()
        configuration.listenAddresses = [SocketAddress(.loopbackV4, port: 0)]
        let bob = try Session(peer: PeerID(displayName: "bob"), configuration: configuration)
        let data = try await bob.connectionData(mesh: true)
        _ = try company.folder.write("\(Base64.encode(data.bytes))\n", to: "bob.data")
        try await bob.connect(with: ConnectionData(try #require(Base64.decode(text))))
        let peer = try #require(await bob.connectedPeers.first)
        let path = try company.folder.write("contents", to: "file")
        for number in 1...2 {
            let offer = try await bob.send(file: URL(filePath: path), to: peer)
            #expect(try await ann.says("bob offers file, 8 B: /accept \(number) or /decline \(number)"))
            offer.cancel()
            #expect(try await ann.says("bob withdrew file \(number)"))
            try await ann.types("/accept \(number)")
            #expect(try await ann.says("no file \(number)"))
        }
        await bob.disconnect()
        #expect(try await ann.leaves().code == 0)
    }

    @Test("a file is offered to all, and each accepts it or not")
    func files() async throws {
        let people = try await company.chain(["ann", "bob", "cid"])
        let path = try company.folder.write(pattern(100_000, seed: 1), to: "my photo.jpg")
        let inbox = company.folder.path("in box")
        try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: false)
        try await people[0].types("/send \(path)")
        for one in people[1...] {
            #expect(try await one.says("ann offers my photo.jpg, 98 KiB: /accept 1 or /decline 1"))
        }
        try await people[1].types("/accept 1 \(inbox)")
        try await people[2].types("/decline 1")
        let digest = SHA256.hash(pattern(100_000, seed: 1)).hexadecimal
        #expect(
            try await people[0].says(all: [
                "bob received my photo.jpg, 98 KiB, sha256 \(digest)",
                "my photo.jpg not sent to cid: declined by the other side",
            ]) == [])
        #expect(try await people[1].says("received my photo.jpg, 98 KiB in "))
        let received = try Data(contentsOf: URL(filePath: "\(inbox)/my photo.jpg"))
        #expect(Array(received) == pattern(100_000, seed: 1))
        // To one alone, which has a file of this name already; then one that is gone before it is requested.
        try await people[0].types("/send \(path) bob")
        #expect(try await people[1].says("/accept 2"))
        try await people[1].types("/accept 2 \(inbox)")
        #expect(try await people[1].says("received my photo~1.jpg"))
        try await people[0].types("/send \(path) cid")
        #expect(try await people[2].says("/accept 2"))
        #expect(try await people[0].leaves().code == 0)
        #expect(try await people[2].says("ann left"))
        try await people[2].types("/accept 2")
        #expect(try await people[2].says("no file 2"))
        try await people[2].types("/send \(company.folder.path("nothing"))")
        #expect(try await people[2].says("no such file"))
        for one in people[1...] { #expect(try await one.leaves().code == 0) }
    }

    @Test("a peer that does not read delays no other, and the sender learns that lines are dropped")
    func slow() async throws {
        let cid = try company.join(
            "cid", from: ["ann"],
            through: ["/bin/sh", "-c", "exec \"$@\" > '\(company.folder.path("cid.out"))'", "sh"])
        let bob = try company.join("bob", from: ["ann"])
        let ann = try company.join("ann", from: ["bob", "cid"])
        #expect(try await ann.says(all: ["bob joined", "cid joined"]) == [])
        try await bob.suspend()
        let line = Array((String(repeating: "x", count: 15_999) + "\n").utf8)
        async let isBehind = ann.says("bob is too slow: dropping lines to them")
        for _ in 0..<1_500 { try await ann.send(line) }
        try await ann.types("the end")
        #expect(try await isBehind)
        let deadline = ContinuousClock.now + .seconds(45)
        var tail = ""
        while !tail.hasSuffix("ann: the end\n"), .now < deadline {
            tail = try company.folder.end(of: "cid.out", 20)
            await Task.yield()
        }
        #expect(tail.hasSuffix("ann: the end\n"))
        bob.process.signal(SIGKILL)
        for one in [ann, cid] { #expect(try await one.leaves().code == 0) }
    }

    @Test("when a room is full, a further peer is refused with the reason at both ends")
    func full() async throws {
        let people = try await company.chain(["ann", "bob", "cid"], ["--peers", "3"])
        let dan = try company.join("dan", from: ["cid"], ["--peers", "3"])
        #expect(try await dan.says("connecting to cid"))
        try await people[2].types(try String(contentsOfFile: company.data("dan"), encoding: .utf8))
        #expect(try await people[2].says("cannot link with dan: the session is full"))
        #expect(try await dan.says("cannot link with cid: the session is full"))
        let ending = try await dan.leaves()
        #expect(ending.code == 1)
        #expect(
            ending.errorLines.last?.hasPrefix("multipeer: no peer was linked: the session is full") == true)
        for one in people { #expect(try await one.leaves().code == 0) }
    }

    @Test("a star introduces no peers to each other")
    func star() async throws {
        let hub = try company.join("hub", from: ["ann", "bob"], ["--star"])
        let people = try ["ann", "bob"].map { try company.join($0, from: ["hub"]) }
        for one in people { #expect(try await one.says("hub joined")) }
        #expect(try await hub.says(all: ["ann joined", "bob joined"]) == [])
        try await people[0].types("hello")
        #expect(try await hub.firstLine() == "ann: hello")
        try await hub.types("over")
        for one in people { #expect(try await one.firstLine() == "hub: over") }
        for one in people + [hub] {
            let ending = try await one.leaves()
            #expect(ending.code == 0)
            #expect(ending.output.isEmpty)
        }
    }

    @Test("a link with the mesh is a single link: lines of other peers are not printed")
    func link() async throws {
        let bob = try company.join("bob", from: ["ann", "cid"])
        let options = ["--listen", "127.0.0.1", "--timeout", "20", "--mesh", "--from", company.data("bob")]
        let people = try ["ann", "cid"].map {
            try Command(["link", "--unverified", "--name", $0, "--out", company.data($0)] + options)
        }
        #expect(try await bob.says(all: ["ann joined", "cid joined"]) == [])
        for name in ["ann", "cid"] {
            let text = try String(contentsOfFile: company.data(name), encoding: .utf8)
            #expect(try ConnectionData(try #require(Base64.decode(text))).flags.contains(.mesh))
        }
        try await people[0].types("hello")
        #expect(try await bob.firstLine() == "ann: hello")
        try await bob.types("all")
        for one in people { #expect(try await one.firstLine() == "all") }
        #expect(try await bob.leaves().code == 0)
        for one in people {
            let ending = try await one.finish()
            #expect(ending.code == 1)
            #expect(ending.output.isEmpty)
        }
    }
}
