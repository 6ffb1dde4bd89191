import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: suspended and in the background", .serialized, .inTurns)
struct JobControlTests {
    private static let shells = ["/bin/sh -i", "/bin/bash --norc --noprofile --noediting -i"]
    private let folder: Folder
    private let type = ServiceType.random()

    init() throws { folder = try Folder() }

    @Test(
        "Ctrl-Z gives the terminal back, in the background a room goes on, and in the foreground the typed text is there",
        arguments: shells)
    func room(_ shell: String) async throws {
        let company = try ChatProcesses()
        let ann = try Shell(shell)
        let mode = try await ann.mode()
        try await ann.user.types(ann.chat(in: company) + "; echo code=$?=\n")
        let bob = try company.join("bob", from: ["ann"])
        #expect(try await bob.says("ann joined"))
        try await ann.user.sees("* bob joined, encrypted")
        try await ann.user.types("hel")
        try await ann.user.sees("> hel")
        try await ann.user.types("\u{1a}")
        #expect(try await ann.code() == "\(128 + SIGTSTP)")
        #expect(try await ann.mode() == mode)
        ann.user.forgets()
        try await ann.user.types("bg\n")
        try await bob.types("while you were away")
        try await ann.user.sees("bob: while you were away\r\n")
        #expect(try await ann.mode() == mode)
        #expect(!ann.user.screen.contains("> hel"))
        ann.user.forgets()
        try await ann.user.types("fg; echo code=$?=\n")
        try await ann.user.sees("> hel")
        try await ann.user.types("lo\n")
        #expect(try await bob.firstLine() == "ann: hello")
        try await ann.user.types("\u{4}")
        #expect(try await ann.code() == "0")
        #expect(try await ann.mode() == mode)
        #expect(try await bob.leaves().code == 0)
        try await ann.leaves()
    }

    @Test(
        "a room that is started in the background works, and takes the terminal in the foreground",
        arguments: shells)
    func background(_ shell: String) async throws {
        let company = try ChatProcesses()
        let ann = try Shell(shell)
        let mode = try await ann.mode()
        try await ann.user.types(ann.chat(in: company) + " &\n")
        let bob = try company.join("bob", from: ["ann"])
        try await ann.user.sees("* bob joined, encrypted")
        try await bob.types("hi")
        try await ann.user.sees("bob: hi\r\n")
        #expect(try await ann.mode() == mode)
        #expect(!ann.user.screen.contains("\u{1b}[?2004h"))
        ann.user.forgets()
        try await ann.user.types("fg; echo code=$?=\n")
        try await ann.user.sees("\u{1b}[K> ")
        try await ann.user.types("yes\n")
        #expect(try await bob.firstLine() == "ann: yes")
        try await ann.user.types("\u{4}")
        #expect(try await ann.code() == "0")
        #expect(try await ann.mode() == mode)
        #expect(try await bob.leaves().code == 0)
        try await ann.leaves()
    }

    @Test("the list of receivers goes away with Ctrl-Z, and is there again in the foreground")
    func list() async throws {
        let path = try folder.write("x", to: "x")
        let ann = try Shell(JobControlTests.shells[0])
        let mode = try await ann.mode()
        try await ann.user.types(
            "$PROGRAM send --unverified \(path) --name ann --type \(type); echo code=$?=\n")
        try await ann.user.sees("no one waits to receive here yet")
        try FileManager.default.createDirectory(
            atPath: folder.path("inbox"), withIntermediateDirectories: false)
        let bob = try Command(
            ["receive", "--into", folder.path("inbox"), "--yes", "--name", "bob", "--type", type])
        try await ann.user.sees("1  bob  (id ")
        try await ann.user.types("\u{1a}")
        #expect(try await ann.code() == "\(128 + SIGTSTP)")
        #expect(try await ann.mode() == mode)
        ann.user.forgets()
        try await ann.user.types("fg; echo code=$?=\n")
        try await ann.user.sees("1  bob  (id ")
        try await ann.user.types("1")
        #expect(try await ann.code() == "0", "\(ann.user.screen)")
        #expect(try await ann.mode() == mode)
        #expect(try await bob.finish().code == 0)
        #expect(folder.exists("inbox/x"))
        try await ann.leaves()
    }

    @Test("a question in the background stops the command, and is asked in the foreground")
    func question() async throws {
        let ann = try Shell(JobControlTests.shells[0])
        let mode = try await ann.mode()
        try await ann.user.types(
            "$PROGRAM identity new --format pkcs12 --out \(folder.path("key")) & echo process=$!=\n")
        let process = try #require(Int32(try await ann.user.sees(#/process=([0-9]+)=/#)))
        try await ann.waits { $0.isStopped(process) }
        try await ann.user.types("jobs\n")
        try await ann.user.sees("(tty input)")
        #expect(!ann.user.screen.contains("passphrase: "))
        #expect(try await ann.mode() == mode)
        try await ann.user.types("fg; echo code=$?=\n")
        try await ann.user.sees("new passphrase: ")
        try await ann.user.types("secret\n")
        try await ann.user.sees("repeat passphrase: ")
        try await ann.user.types("secret\n")
        #expect(try await ann.code() == "0")
        #expect(try await ann.mode() == mode)
        try await ann.leaves()
    }

    @Test("whatever ends a room, the terminal is as it was", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func ends(_ signal: Int32) async throws {
        let ann = try Shell(JobControlTests.shells[0])
        let mode = try await ann.mode()
        let process = try await ann.starts("chat --name ann --type \(type)")
        try await ann.user.sees("\u{1b}[K> ")
        _ = kill(process, signal)
        #expect(try await ann.code() == "\(128 + signal)")
        #expect(try await ann.mode() == mode)
        try await ann.leaves()
    }

    private static let seeds: [UInt64] = [1, 2, 3]

    @Test(
        "whatever signals come while a secret is asked for, the answer counts and is not shown",
        arguments: seeds)
    func secret(_ seed: UInt64) async throws {
        let ann = try Shell(JobControlTests.shells[0])
        let mode = try await ann.mode()
        let path = folder.path("key")
        let process = try await ann.starts("identity new --format pkcs12 --out \(path)")
        try await ann.user.sees("new passphrase: ")
        try await ann.endures(process, seed, showing: "new passphrase: ")
        try await ann.user.types("secret\n")
        try await ann.user.sees("repeat passphrase: ")
        #expect(!ann.user.screen.contains("secret"))
        try await ann.endures(process, seed + 100, showing: "repeat passphrase: ")
        try await ann.user.types("secret\n")
        try await ann.ended(process)
        #expect(!ann.user.screen.contains("secret"))
        #expect(try await ann.mode() == mode)
        let shown = try await Command(
            ["identity", "show", path], environment: ["MULTIPEER_PASSPHRASE": "secret"]
        ).finish()
        #expect(shown.code == 0, "\(shown.errors)")
        try await ann.leaves()
    }

    @Test("whatever signals come while a line is typed, it stays together and is sent", arguments: seeds)
    func line(_ seed: UInt64) async throws {
        let company = try ChatProcesses()
        let ann = try Shell(JobControlTests.shells[0])
        let mode = try await ann.mode()
        let process = try await ann.starts(ann.words(in: company))
        let bob = try company.join("bob", from: ["ann"])
        #expect(try await bob.says("ann joined"))
        // What she says before she has noticed him goes to no one.
        try await ann.user.sees("* bob joined, encrypted")
        try await ann.user.types("hel")
        try await ann.user.sees("> hel")
        try await ann.endures(process, seed, showing: "> hel")
        try await ann.user.types("lo\n")
        #expect(try await bob.firstLine() == "ann: hello")
        try await ann.user.types("\u{4}")
        try await ann.ended(process)
        #expect(try await ann.mode() == mode)
        #expect(try await bob.leaves().code == 0)
        try await ann.leaves()
    }
}

/// A shell on a terminal, which starts, suspends and continues the program as its user says.
private final class Shell: Sendable {
    let user: TerminalUser
    private let looks = Locked(0)
    /// How many signals come while one question stands.
    private static let most = 8
    private static let stops = [SIGTSTP, SIGTTIN, SIGTTOU, SIGSTOP]

    init(_ shell: String) throws {
        user = TerminalUser(
            try Command(
                [], environment: ["TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "ENV": ""],
                through: TerminalUser.wrapper(of: shell)))
    }

    func words(in company: ChatProcesses) -> String {
        "chat --unverified --name ann --listen 127.0.0.1 --timeout 20 --out \(company.data("ann")) "
            + "--from \(company.data("bob"))"
    }

    func chat(in company: ChatProcesses) -> String { "$PROGRAM \(words(in: company))" }

    /// Starts the program in the foreground, and returns its process. Its exit code is shown when it has not been stopped.
    func starts(_ words: String) async throws -> Int32 {
        try await user.types("sh -c 'echo process=$$=; exec $PROGRAM \(words)'; echo code=$?=\n")
        return try #require(Int32(try await user.sees(#/process=([0-9]+)=/#)))
    }

    /// Waits until the last command has ended, and returns its exit code.
    func code() async throws -> String { try await user.sees(#/code=([0-9]+)=/#) }

    /// Returns all settings of the terminal. The shell has to be in the foreground.
    func mode() async throws -> String {
        let look = looks.withLock { count in
            count += 1
            return count
        }
        try await user.types("echo mode\(look)=$(stty -g)=\n")
        return try await user.sees(Regex("mode\(look)=([0-9a-f:]+)=", as: (Substring, Substring).self))
    }

    func leaves() async throws {
        try await user.types("exit\n")
        #expect(try await user.end() == 0)
    }

    /// Sends signals to the program in the foreground, and brings it there again whenever it was stopped. `text` is then shown again.
    func endures(_ process: Int32, _ seed: UInt64, showing text: String) async throws {
        var random = Seeded(seed)
        for _ in 0..<Int.random(in: 1...Shell.most, using: &random) {
            let signal = (Shell.stops + [SIGCONT, SIGWINCH]).randomElement(using: &random) ?? SIGTSTP
            user.forgets()
            _ = kill(process, signal)
            if signal == SIGWINCH { continue }
            if Shell.stops.contains(signal) {
                try await user.sees("Stopped")
                user.forgets()
                try await user.types("fg\n")
                try await waits { $0.isInForeground(process) }
            }
            try await user.sees(text)
        }
    }

    /// Waits until the shell is in the foreground again because the program has ended.
    func ended(_ process: Int32) async throws { try await waits { $0.fields(of: process) == nil } }

    func waits(until isSo: @escaping @Sendable (Shell) -> Bool) async throws {
        try await within(.seconds(30)) { [self] in
            while !isSo(self) {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    func isStopped(_ process: Int32) -> Bool { fields(of: process)?.first == "T" }

    func isInForeground(_ process: Int32) -> Bool {
        guard let fields = fields(of: process), fields[0] != "T" else { return false }
        return fields[5] == "\(process)"
    }

    /// Returns what the kernel says after the name of a process: its state, parent, group, session, terminal and the terminal's
    /// foreground; nil when it is gone.
    private func fields(of process: Int32) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ").dropFirst()
        return fields.count > 5 && fields.first != "Z" ? Array(fields) : nil
    }
}
