import Foundation
import MultipeerCLI
import MultipeerCommandLine
import MultipeerConform
import TestSupport
import Testing

private let programsWithCommands = [Multipeer.program, MultipeerConform.program]

@Suite("Command: help", .inTurns)
struct HelpTests {
    @Test(
        "the whole help of a command explains all of its options and exit codes, in 80 columns",
        arguments: programsWithCommands.map(\.name))
    func commands(_ name: String) async throws {
        let program = try #require(programsWithCommands.first { $0.name == name })
        for usage in program.usages {
            let ending = try await Command(usage.path + ["--help"], program: name).finish()
            #expect(ending.code == 0)
            #expect(ending.errors.isEmpty)
            #expect(ending.text.hasPrefix("usage: \(name) \(usage.path.joined(separator: " "))"))
            let help = try await Command(["help"] + usage.path, program: name).finish()
            #expect(help.text == ending.text)
            let whole = try await Command(["help"] + usage.path + ["--all"], program: name).finish().text
            for option in usage.options {
                #expect(whole.contains(" \(option.name)") && option.value.map(whole.contains) ?? true)
            }
            for code in usage.exits { #expect(whole.contains("\n  \(code.rawValue)  ")) }
            let isWhole = whole == ending.text
            #expect(
                isWhole
                    || ending.text.hasSuffix(
                        "more: \(name) help \(usage.path.joined(separator: " ")) --all\n")
            )
            for text in [whole, ending.text] {
                for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
            }
        }
    }

    @Test(
        "the help of each command, and the overview, fit a terminal of 80 columns and 24 lines with its prompt",
        arguments: programsWithCommands.map(\.name))
    func height(_ name: String) throws {
        let program = try #require(programsWithCommands.first { $0.name == name })
        for text in [program.overview(width: 80)] + program.usages.map({ $0.help(width: 80) }) {
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 24, "\(text)")
        }
    }

    @Test("help is wrapped at the width of the terminal, at most 100 columns")
    func width() {
        for usage in Multipeer.program.usages {
            let (narrow, wide) = (usage.wholeHelp(width: 60), usage.wholeHelp(width: 100))
            #expect(narrow.split(separator: "\n").count > wide.split(separator: "\n").count)
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
            program.overview(width: 80, isWhole: true).matches(of: /\n  (\d+) +(.*)/).map {
                "\($0.1) \($0.2)"
            }
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

    @Test(
        "what looks like a code but for its dashes, spaces or quotation marks is never a directory or a room",
        arguments: ["7–gitar–island", "“7-guitar-islnd”", "７-guitar-island", "7 guitar", "7—guitar"],
        ["receive", "chat"])
    func mistypedCodes(_ text: String, of command: String) async throws {
        let ending = try await Command.run(command, text)
        #expect(ending.code == ExitCode.badInput.rawValue && ending.errors.contains("code"))
        #expect(!FileManager.default.fileExists(atPath: text))
    }

    @Test("the version is one line", arguments: ["--version", "-V", "version"])
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
                ["receive", "--name", "7-guitar-island"],
                "option '--name': others would take '7-guitar-island' for a code (try 'multipeer receive --help')"
            ),
            (
                ["chat", "--name", "ann@192.0.2.1"],
                "option '--name': others would take 'ann@192.0.2.1' for an address (try 'multipeer chat --help')"
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
            (["link", "ann", "more"], "unexpected argument 'more' (try 'multipeer link --help')"),
            (
                ["link", "@file"],
                "connection data is given with --data (write it to a file and use '--data @FILE')"
            ),
            (
                ["/etc/passwd"], "unknown command '/etc/passwd' (did you mean 'multipeer send /etc/passwd'?)"
            ),
            (
                ["receive", "--into", "7–guitar–island"],
                "'7–guitar–island' is a code, and not the value of --into (use it as 'multipeer CODE', or with --code CODE)"
            ),
            (
                ["chat", "--room", "7 guitar island guitar island"],
                "'7 guitar island guitar island' is a code, and not the value of --room (use it as 'multipeer CODE', or with --code CODE)"
            ),
            (
                ["send", "/etc/passwd", "7-guitar-island"],
                "'7-guitar-island' is a code, and not the name of a peer (use it as 'multipeer CODE', or with --code CODE)"
            ),
            (
                ["send", "/etc/passwd", "--to", "127.0.0.1:99999"],
                "'127.0.0.1:99999': a port is a number from 1 to 65535, and not '99999' (try 'multipeer send --help')"
            ),
            (["recieve"], "unknown command 'recieve' (did you mean 'multipeer receive'?)"),
            (
                ["identity", "shw", "x"],
                "unknown command 'identity shw' (did you mean 'multipeer identity show'?)"
            ),
            (["send", "x", "--verfy"], "unknown option '--verfy' (did you mean '--verify'?)"),
            (["send", "x", "-yz"], "unknown option '-y' in '-yz' (try 'multipeer send --help')"),
            (
                ["send", "/etc/passwd", "ann", "--code", "7-guitar-island"],
                "a code and a name cannot be used together (try 'multipeer send --help')"
            ),
            (
                ["receive", "inbox", "--into", "inbox"],
                "--into and an argument cannot be used together (try 'multipeer receive --help')"
            ),
            (
                ["chat", "kitchen", "--room", "kitchen"],
                "--room and an argument cannot be used together (try 'multipeer chat --help')"
            ),
            (
                ["chat", "--code", "new", "--manual"],
                "a code and --manual cannot be used together (try 'multipeer chat --help')"
            ),
            (
                ["send", "/etc/passwd", "--to", "ann#12"],
                "a peer is given as NAME, NAME#DIGITS, #DIGITS of an id or ADDRESS, not 'ann#12' "
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
