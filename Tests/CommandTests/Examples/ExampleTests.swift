import Foundation
import Multipeer
import TestSupport
import Testing

@Suite("Examples: programs with Apple's API", .serialized, .inTurns)
struct ExampleTests {
    private let type = ServiceType.random()
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func peerSession(_ name: String, _ more: [String] = []) throws -> Command {
        try Command(["--name", name, "--service", type] + more, program: "peer-session")
    }

    /// Each has a home of its own, so that none has another's id.
    private func collusion(_ name: String, home: String? = nil, _ more: [String] = []) throws -> Command {
        try Command(
            ["--name", name, "--service", type] + more, program: "collusion",
            environment: ["HOME": folder.path(home ?? name)])
    }

    @Test(
        "with two or three, everybody who accepts receives everything, and all end by themselves",
        arguments: [2, 3])
    func rounds(_ count: Int) async throws {
        let names = Array(["ann", "bob", "cid"].prefix(count))
        let scripted = ["--peers", "\(count - 1)", "--rounds", "3", "--within", "40", "--answer", "yes"]
        let people = try names.map {
            try peerSession($0, scripted + ($0 == "ann" ? ["--invite"] : ["--after", "0.2"]))
        }
        for (name, one) in zip(names, people) {
            let ending = try await one.finish(nil)
            #expect(ending.code == 0, "\(name): \(ending.text) \(ending.errors)")
            for other in names where other != name {
                for round in 1...3 { #expect(ending.lines.contains("\(other): round \(round)"), "\(name)") }
                #expect(ending.lines.count { $0 == "\(other) is connected" } == 1, "\(name): \(ending.text)")
            }
            if name != "ann" { #expect(ending.lines.count { $0 == "you accepted ann" } == 1) }
        }
    }

    @Test("a configuration of OpenSSL without the default algorithms changes nothing")
    func configuration() async throws {
        let path = try folder.write(
            """
            openssl_conf = all
            [all]
            providers = providers
            ssl_conf = tls
            [providers]
            legacy = legacy
            [legacy]
            activate = 1
            [tls]
            system_default = system
            [system]
            CipherString = DEFAULT:@SECLEVEL=5
            """, to: "openssl.cnf")
        let people = try ["ann", "bob"].map { name in
            try Command(
                ["--name", name, "--service", type, "--peers", "1", "--rounds", "1", "--within", "40"]
                    + ["--answer", "yes"] + (name == "ann" ? ["--invite"] : ["--after", "0.2"]),
                program: "peer-session", environment: ["OPENSSL_CONF": path])
        }
        for one in people {
            let ending = try await one.finish(nil)
            #expect(ending.code == 0, "\(ending.text) \(ending.errors)")
        }
    }

    @Test("an invitation waits for the user, who declines one and accepts the next")
    func asked() async throws {
        let bob = try peerSession("bob")
        let ann = try peerSession("ann", ["--invite"])
        #expect(try await bob.prints("ann invites you: y or n?"))
        try await bob.types("n")
        #expect(try await bob.prints("you declined ann"))
        #expect(try await ann.prints("bob is not connected"))
        #expect(try await ann.finish().code == 0)
        let cid = try peerSession("cid", ["--invite"])
        #expect(try await bob.prints("cid invites you: y or n?"))
        try await bob.types("y")
        #expect(try await bob.prints("cid is connected"))
        try await bob.types("hello")
        #expect(try await cid.prints("bob: hello"))
        for one in [bob, cid] { #expect(try await one.finish().code == 0) }
    }

    @Test(
        "devices that invite each other exchange messages and files, leave and return",
        arguments: [(2, 2), (3, 3)])
    func devices(_ count: Int, _ rounds: Int) async throws {
        let names = Array(["ann", "bob", "cid"].prefix(count))
        let people = try names.map {
            try collusion($0, ["--peers", "\(count - 1)", "--rounds", "\(rounds)", "--within", "40"])
        }
        for (name, one) in zip(names, people) {
            let ending = try await one.finish(nil)
            #expect(ending.code == 0, "\(name): \(ending.text) \(ending.errors)")
            for round in 1...rounds {
                #expect(ending.lines.contains("round \(round) is over"), "\(name)")
                for other in names where other != name {
                    #expect(ending.lines.contains("\(other): hello(round: \(round))"), "\(name)")
                    #expect(ending.text.contains("\(other) sent the file round \(round),"), "\(name)")
                }
            }
        }
    }

    @Test(
        "a device keeps its id, and has another one under another name or home directory"
    )
    func identity() async throws {
        let ann = try await collusion("ann").finish()
        #expect(ann.lines.first?.hasPrefix("you are ann, ") == true)
        #expect(try await collusion("ann").finish().lines.first == ann.lines.first)
        let bob = try await collusion("bob", home: "ann").finish()
        #expect(bob.lines.first?.dropFirst(13) != ann.lines.first?.dropFirst(13))
        #expect(try await collusion("ann", home: "elsewhere").finish().lines.first != ann.lines.first)
    }

    @Test(
        "a device that is alone gives up in time, with exit code 1",
        arguments: ["peer-session", "collusion"])
    func alone(_ program: String) async throws {
        let words = ["--peers", "1", "--within", "1", "--service", type]
        let one = try Command(words, program: program, environment: ["HOME": folder.path("home")])
        #expect(try await one.finish(nil).code == 1)
    }

    @Test(
        "help goes to standard output, and wrong arguments end with exit code 2",
        arguments: ["peer-session", "collusion"])
    func usage(_ program: String) async throws {
        let help = try await Command(["--help"], program: program).finish()
        #expect(help.code == 0)
        #expect(help.text.hasPrefix("usage: \(program) "))
        for words in [["--loud"], ["--peers"], ["--peers", "many"]] {
            let wrong = try await Command(words, program: program).finish()
            #expect(wrong.code == 2)
            #expect(wrong.output.isEmpty)
            #expect(wrong.errors.hasPrefix("\(program): "))
        }
    }
}

extension Command.Ending {
    fileprivate var lines: [Substring] { text.split(separator: "\n") }
}
