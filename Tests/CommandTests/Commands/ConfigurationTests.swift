import Foundation
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: the configuration file", .computing)
struct ConfigurationTests {
    private static let text = """
        # who I am
        name = ann

          directory=~/in box

        """

    @Test("values are read, and a change keeps comments, order and everything else")
    func changes() throws {
        let file = try ConfigurationFile(ConfigurationTests.text, at: "/c")
        #expect(file[.name]?.value == "ann" && file[.name]?.line == 2)
        #expect(file.value(.directory) == "~/in box" && file[.port] == nil)
        #expect(
            try file.setting(.name, to: "bob = 1").text
                == "# who I am\nname = bob = 1\n\n  directory=~/in box\n")
        let more = try file.setting(.port, to: "4000")
        #expect(more.text == "# who I am\nname = ann\n\n  directory=~/in box\nport = 4000\n")
        #expect(try more.setting(.port, to: nil) == file)
        #expect(try ConfigurationFile("name = ann\r\nport = 1024", at: "/c").value(.name) == "ann")
    }

    @Test(
        "a mistake is reported with its line, and a suggestion",
        arguments: [
            ("nmae = ann", "/c, line 1: unknown key 'nmae' (did you mean 'name'?)"),
            ("\nx = 1", "/c, line 2: unknown key 'x' (the keys are name, identity, directory, port)"),
            ("#\nname", "/c, line 2: 'name' is not KEY = VALUE (a line looks like: name = ann)"),
            ("name = a\nname = b", "/c, line 2: 'name' is already in line 1 (remove one of the two lines)"),
            (
                "name = 192.0.2.1",
                "/c, line 1: 'name' cannot be '192.0.2.1': others would take it for an address"
            ),
            ("port = 0", "/c, line 1: 'port' cannot be '0': a port is a number from 1024 to 65535"),
            ("directory = in", "/c, line 1: 'directory' cannot be 'in': a path begins with / or ~/"),
        ])
    func mistakes(_ text: String, _ message: String) {
        #expect(throws: CommandError.self) { try ConfigurationFile(text, at: "/c") }
        do throws(CommandError) { _ = try ConfigurationFile(text, at: "/c") } catch {
            #expect("\(error)" == message)
            #expect(error.exit == .badInput)
        }
    }

    @Test("each name has a file of its own in the folder of identities, whatever it contains")
    func paths() {
        let names = ["ann", "Ann", "../x", "a/b", ".", "ann.pem", "ännchen", "%61nn", "ann "]
        let paths = names.map { KeptIdentity.path(for: $0).dropFirst(KeptIdentity.directory.count) }
        #expect(Set(paths).count == names.count)
        #expect(paths.allSatisfy { $0.lastIndex(of: "/") == $0.startIndex && !$0.hasPrefix("/.") })
        #expect(paths[0] == "/ann.pem" && paths[3] == "/a%2fb.pem")
    }
}

@Suite("Command: config and the kept identity", .serialized, .inTurns)
struct ConfigCommandTests {
    private let folder: Folder
    private let type = "t\(String(UInt64.random(in: 0..<1 << 60), radix: 36))"

    init() throws { folder = try Folder() }

    private var environment: [String: String] { ["XDG_CONFIG_HOME": folder.path("config")] }

    private func config(_ words: String...) async throws -> Command.Ending {
        try await Command(["config"] + words, environment: environment).finish()
    }

    /// Starts a receiver, and returns it and what it says of itself: its name and id.
    private func receiver(
        _ options: [String] = [], environment: [String: String]? = nil, isKept: Bool = true
    ) async throws -> (Command, name: String, id: String?) {
        let command = try Command(
            ["receive", "--yes", "--into", folder.path("inbox"), "--type", type] + options,
            environment: environment ?? self.environment)
        #expect(try await command.says("waiting as"))
        let name = try #require(command.written.firstMatch(of: /waiting as '([^']*)'/)).1
        if isKept { #expect(try await command.says("your id, to compare: #")) }
        return (command, String(name), command.written.firstMatch(of: /#([0-9a-f]{32})/).map { String($0.1) })
    }

    private func end(_ command: Command) async throws {
        command.process.signal(SIGINT)
        #expect(try await command.finish(nil).code == 130)
    }

    @Test("settings are shown with their origin, set in a private file, and removed")
    func settings() async throws {
        let before = try await config()
        #expect(before.text.contains("(default: the name of this machine)"), "\(before.errors)")
        #expect(!folder.exists("config"))
        #expect(try await config("name", "ann").code == 0)
        #expect(try await config("directory", folder.path("inbox")).code == 0)
        #expect(try await config("name").text == "ann\n")
        #expect(try folder.mode("config/multipeer/config") == 0o600)
        let after = try await config()
        #expect(after.text.contains("  name       ann  ("))
        #expect(after.text.contains("/identities/ann.pem  (default, created when it is first needed)"))
        #expect(try await config("--unset", "name").code == 0)
        #expect(try await config("name").text != "ann\n")
        let typo = try await config("nmae", "ann")
        #expect(typo.code == 3)
        #expect(typo.errors == "multipeer: unknown key 'nmae' (did you mean 'name'?)\n")
        let file = folder.path("config/multipeer/config")
        try Data("name = x\ncolour = red\n".utf8).write(to: URL(filePath: file))
        let broken = try await Command(["receive", "--yes"], environment: environment).finish()
        #expect(broken.code == 3)
        #expect(broken.errors.hasPrefix("multipeer: \(file), line 2: unknown key 'colour'"))
    }

    @Test("a command has the same id each time, and two at once have two, each the same again")
    func identity() async throws {
        #expect(try await config("name", "ann").code == 0)
        let one = try await receiver()
        let other = try await receiver()
        #expect((one.name, other.name) == ("ann", "ann-2"))
        #expect(one.id != nil && other.id != nil && one.id != other.id)
        let named = try await receiver(["--name", "ann"], isKept: false)
        #expect(named.name == "ann" && ![one.id, other.id].contains(named.id))
        #expect(named.0.written.contains("another command runs as 'ann': this one has a new peer id"))
        for command in [one.0, other.0, named.0] { try await end(command) }
        #expect(try folder.mode("config/multipeer/identities/ann.pem") == 0o600)
        #expect(try await config().text.contains("peer id    #\(one.id ?? "")"))
        let again = try await receiver(["--name", "ann"])
        #expect(again.id == one.id)
        try await end(again.0)
    }

    @Test("another name has another identity, which is said when it is made")
    func otherName() async throws {
        #expect(try await config("name", "ann-pc").code == 0)
        let usual = try await receiver()
        try await end(usual.0)
        let first = try await receiver(["--name", "ann"])
        #expect(first.id != usual.id)
        #expect(
            first.0.written.contains(
                "'ann' has a new identity: peers that know you as 'ann-pc' do not recognise it; without --name you are"
            ))
        try await end(first.0)
        let again = try await receiver(["--name", "ann"])
        #expect(again.id == first.id && !again.0.written.contains("new identity"))
        try await end(again.0)
    }

    @Test("an anonymous peer, and one without a home, is a new one each time")
    func anonymous() async throws {
        let kept = try await receiver()
        try await end(kept.0)
        let anonymous = try await receiver(["--anonymous"], isKept: false)
        #expect(anonymous.name == "anonymous" && anonymous.id == nil)
        try await end(anonymous.0)
        let homeless = try await receiver(["--verbose"], environment: [:], isKept: false)
        #expect(homeless.0.written.contains("no identity can be kept in "))
        try await end(homeless.0)
    }

    @Test("where no key can be remembered, trust on first use says so at once")
    func readOnly() async throws {
        let waiting = ["receive", "--yes", "--into", folder.path("inbox"), "--type", type, "--timeout", "1"]
        let unable = try await Command(waiting + ["--trust", "tofu"]).finish()
        #expect(unable.errors.contains("only known peers are trusted: no key can be remembered in "))
        #expect(unable.errors.contains("not a directory (--trust-store names another file)"))
        let inFolder = ["/bin/sh", "-c", "cd '\(folder.path(""))' && exec \"$@\"", "sh"]
        for path in [folder.path("trust"), "trust"] {
            let able = try await Command(
                waiting + ["--trust", "tofu", "--trust-store", path], through: inFolder
            ).finish()
            #expect(!able.errors.contains("only known peers"))
            #expect(able.errors.contains("no peer connected"))
        }
    }

    @Test(
        "what is a FIFO in the folder of settings, or others can change or read, is refused and not waited for"
    )
    func places() async throws {
        let receiving = ["receive", "--yes", "--timeout", "1", "--name", "ann", "--into", folder.path("")]
        func run(_ words: [String]) async throws -> Command.Ending {
            try await Command(words, environment: environment).finish()
        }
        #expect(try await config("name", "ann").code == 0)
        #expect(try await run(receiving).code == 1)
        let key = folder.path("config/multipeer/identities/ann.pem")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let open = try await run(receiving)
        #expect(open.code == 3 && open.errors.contains("(run 'chmod 600 \(key)'"), "\(open.errors)")
        #expect(
            try await config().text.contains("peer id    unknown: \(key) is open to other users, mode 644"))
        try FileManager.default.removeItem(atPath: key)
        _ = try folder.makeFIFO("config/multipeer/identities/ann.pem")
        let waiting = try await run(receiving)
        #expect(
            waiting.code == 3 && waiting.errors.contains("\(key) is not a regular file"), "\(waiting.errors)")
        #expect(try await config().text.contains("peer id    unknown: \(key) is not a regular file"))
        for (name, words) in [("trust", ["receive", "--anonymous", "--yes"]), ("config", ["config"])] {
            let path = folder.path("config/multipeer/\(name)")
            try Data().write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o646], ofItemAtPath: path)
            let open = try await run(words)
            #expect(open.code == 3, "\(open.errors)")
            #expect(open.errors.contains("\(path) can be changed by other users, mode 646 (run 'chmod go-w"))
            try FileManager.default.removeItem(atPath: path)
            _ = try folder.makeFIFO("config/multipeer/\(name)")
            let waiting = try await run(words)
            #expect(waiting.code == 3, "\(waiting.errors)")
            #expect(waiting.errors.contains("\(path) is not a regular file"))
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("a key that cannot be kept or read is explained")
    func obstacles() async throws {
        let homeless = try await Command(["config"], environment: ["XDG_CONFIG_HOME": "/dev/null/config"])
            .finish()
        #expect(homeless.text.contains(/default, cannot be created: .*: not a directory/))
        #expect(try await config("identity", folder.path("key")).code == 0)
        _ = try folder.write("no key", to: "key")
        let damaged = try await config()
        #expect(damaged.code == 0 && damaged.text.contains("peer id    unknown: "))
    }
}
