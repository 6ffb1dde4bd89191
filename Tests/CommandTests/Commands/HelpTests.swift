import MultipeerCLI
import MultipeerCommandLine
import MultipeerConform
import TestSupport
import Testing

private let programsWithCommands = [Multipeer.program, MultipeerConform.program]

@Suite("Command: help", .inTurns)
struct HelpTests {
    @Test(
        "every command explains all of its options and exit codes",
        arguments: programsWithCommands.map(\.name))
    func commands(_ name: String) async throws {
        let program = try #require(programsWithCommands.first { $0.name == name })
        for usage in program.usages {
            let ending = try await Command(usage.path + ["--help"], program: name).finish()
            #expect(ending.code == 0)
            #expect(ending.errors.isEmpty)
            #expect(ending.text.hasPrefix("usage: \(name) \(usage.path.joined(separator: " "))"))
            for option in usage.options { #expect(ending.text.contains("\n  \(option.name)")) }
            for code in usage.exits { #expect(ending.text.contains("\n  \(code.rawValue)  ")) }
            #expect(ending.text.split(separator: "\n").allSatisfy { $0.count <= 110 })
            let help = try await Command(["help"] + usage.path, program: name).finish()
            #expect(help.text == ending.text)
        }
    }

    @Test("every command that encrypts writes its secrets to a file on request, and explains what that means")
    func keyLog() {
        let encrypting: Set = ["link", "send", "receive", "chat", "invite", "advertise"]
        for usage in Multipeer.program.usages
        where usage.options.contains(where: { $0.name == "--preference" }) {
            #expect(encrypting.contains(usage.path[0]), "\(usage.path)")
        }
        for usage in Multipeer.program.usages where encrypting.contains(usage.path[0]) {
            let option = usage.options.first { $0.name == "--keylog" }
            #expect(
                option?.summary.contains("anyone who can read FILE can decrypt everything") == true,
                "\(usage.path)")
        }
    }

    @Test(
        "the overview names every command, including groups",
        arguments: programsWithCommands.map(\.name))
    func overview(_ name: String) async throws {
        let program = try #require(programsWithCommands.first { $0.name == name })
        let ending = try await Command(["--help"], program: name).finish()
        for usage in program.usages {
            #expect(ending.text.contains(usage.path.joined(separator: " ")))
        }
        #expect(try await Command(["help"], program: name).finish().text == ending.text)
    }

    @Test("the overview explains the exit codes of its own program's commands, and no others")
    func exits() {
        let codes = programsWithCommands.map { program in
            program.overview.matches(of: /\n  (\d+) +(.*)/).map { "\($0.1) \($0.2)" }
        }
        #expect(codes[0].count == 7)
        #expect(codes[1].count == 6)
        #expect(codes[1].contains("1 a case failed"))
        #expect(!codes[1].contains { $0.contains("doctor") || $0.hasPrefix("5 ") })
    }

    @Test("the help of a group names its commands")
    func group() async throws {
        let ending = try await Command.run("identity", "--help")
        #expect(ending.text == (try Multipeer.program.help(for: ["identity"])))
        #expect(ending.text.contains("new") && ending.text.contains("show"))
    }

    @Test("the suite, its shim and the demonstration are programs of their own")
    func programs() async throws {
        for word in ["conform", "shim", "demo"] {
            let ending = try await Command.run(word)
            #expect(ending.code == ExitCode.usage.rawValue)
            #expect(ending.errors.contains("unknown command '\(word)'"))
        }
        let demo = try await Command.run("--help", program: "multipeer-demo")
        #expect(demo.code == 0 && demo.text.hasPrefix("usage: multipeer-demo [options]"))
        #expect(try await Command.run("help", program: "multipeer-demo").text == demo.text)
    }

    @Test("the version is one line", arguments: ["--version", "version"])
    func version(_ word: String) async throws {
        let ending = try await Command.run(word)
        #expect(ending.text == "multipeer \(CommandProgram.version)\n")
        #expect(ending.code == 0)
    }

    @Test(
        "a wrong command line prints one line on standard error and ends with exit code 2",
        arguments: [
            ([], "no command given (try 'multipeer --help')"),
            (["fly"], "unknown command 'fly' (try 'multipeer --help')"),
            (["--fly"], "unknown option '--fly' (try 'multipeer --help')"),
            (["data"], "'data' needs a subcommand (try 'multipeer data --help')"),
            (["data", "fly"], "unknown command 'data fly' (try 'multipeer data --help')"),
            (["help", "fly"], "unknown command 'fly' (try 'multipeer --help')"),
            (["link", "--x"], "unknown option '--x' (try 'multipeer link --help')"),
            (
                ["link", "--preference", "maybe"],
                "option '--preference' takes required, optional or none, not 'maybe' (try 'multipeer link --help')"
            ),
            (
                ["link", "--listen", "here"],
                "option '--listen' takes ADDRESS or ADDRESS:PORT, not 'here' (try 'multipeer link --help')"
            ),
            (
                ["link", "--trust", "everybody"],
                "option '--trust' takes pinned, ca:FILE, ca-member:FILE, fingerprint:HEX, tofu or ask, not 'everybody' "
                    + "(try 'multipeer link --help')"
            ),
            (
                ["link", "--name", "a\u{7}"],
                "option '--name': a display name has 1 to 63 bytes of UTF-8 and no control characters "
                    + "(try 'multipeer link --help')"
            ),
            (
                ["link", "--data", "x", "--from", "y"],
                "--data and --from cannot be used together (try 'multipeer link --help')"
            ),
            (
                ["link", "--timeout", "700"],
                "option '--timeout' takes a number from 1 to 600, not '700' (try 'multipeer link --help')"
            ),
            (
                ["browse", "--type", "Chat"],
                "option '--type': a service type is lower case: it must not contain 'C' "
                    + "(try 'multipeer browse --help')"
            ),
            (
                ["browse", "--for", "0"],
                "option '--for' takes a number from 1 to 86400, not '0' (try 'multipeer browse --help')"
            ),
            (
                ["advertise", "--info", "x"],
                "option '--info' takes KEY=VALUE, not 'x' (try 'multipeer advertise --help')"
            ),
            (
                ["advertise", "--info", "n=x"],
                "option '--info': the key \"n\" of the discovery info is reserved "
                    + "(try 'multipeer advertise --help')"
            ),
            (
                ["invite", "--min", "1"],
                "option '--min' takes a number from 2 to 8, not '1' (try 'multipeer invite --help')"
            ),
            (
                ["invite", "--min", "5", "--max", "4"],
                "--min must not be greater than --max (try 'multipeer invite --help')"
            ),
            (
                ["invite", "--wait", "--max", "4"],
                "--wait cannot be used with --min or --max (try 'multipeer invite --help')"
            ),
            (
                ["chat", "--room", "x", "--manual"],
                "--room and --manual cannot be used together (try 'multipeer chat --help')"
            ),
            (
                ["receive", "--yes", "--from", "x"],
                "--yes and --from cannot be used together (try 'multipeer receive --help')"
            ),
            (
                ["send", "/etc/passwd", "--code", "7-guitar-island", "--to", "ann"],
                "a code and --to cannot be used together (try 'multipeer send --help')"
            ),
            (
                ["receive", "7-guitar-island", "--yes"],
                "a code and --yes cannot be used together (try 'multipeer receive --help')"
            ),
            (
                ["receive", "7-guitar-island", "--code", "new"],
                "--code and an argument cannot be used together (try 'multipeer receive --help')"
            ),
            (["link", "DATA", "more"], "unexpected argument 'more' (try 'multipeer link --help')"),
            (["link", "--type", "x"], "--type needs a code (try 'multipeer link --help')"),
            (
                ["chat", "--code", "new", "--manual"],
                "a code and --manual cannot be used together (try 'multipeer chat --help')"
            ),
            (
                ["send", "/etc/passwd", "--to", "ann#12"],
                "option '--to' takes NAME, NAME#DIGITS or #DIGITS of an id, not 'ann#12' "
                    + "(try 'multipeer send --help')"
            ),
            (["identity", "show"], "FILE is missing (try 'multipeer identity show --help')"),
        ])
    func wrong(_ words: [String], _ complaint: String) async throws {
        let ending = try await Command(words).finish()
        #expect(ending.errors == "multipeer: \(complaint)\n")
        #expect(ending.output.isEmpty)
        #expect(ending.code == 2)
    }
}
