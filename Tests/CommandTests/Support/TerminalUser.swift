import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import Testing

/// A user at a terminal of a given kind. `script` creates it, shows what is written there, and types what it is given.
final class TerminalUser: Sendable {
    let command: Command
    private let reading = Worker("screen")
    private let seen = Locked("")

    /// For `Command`: a terminal around the program.
    static let wrapper = ["/bin/sh", "-c", "exec script -qefc \"$*\" /dev/null", "sh"]

    /// For `Command`: an interactive shell on a terminal, in which the program is `$PROGRAM`.
    static func wrapper(of shell: String) -> [String] {
        ["/bin/sh", "-c", "PROGRAM=$1; export PROGRAM; exec script -qefc 'exec \(shell)' /dev/null", "sh"]
    }

    /// The command was started through a wrapper.
    init(_ command: Command) { self.command = command }

    convenience init(_ arguments: [String], terminal: String = "xterm") throws {
        self.init(
            try Command(arguments, environment: ["TERM": terminal], through: TerminalUser.wrapper))
    }

    /// Everything that was shown so far.
    var screen: String { seen.withLock { $0 } }

    /// Looks only at what is shown from now on.
    func forgets() { seen.withLock { $0 = "" } }

    func types(_ keys: String) async throws { try await command.send(Array(keys.utf8)) }

    func sees(_ text: String) async throws {
        while !screen.contains(text) { try #require(try await more(), "no '\(text)' in \(screen)") }
    }

    func sees(_ text: Regex<(Substring, Substring)>) async throws -> String {
        while true {
            if let match = screen.firstMatch(of: text) { return String(match.1) }
            try #require(try await more(), "\(screen)")
        }
    }

    /// Waits for more; returns false at the end.
    private func more() async throws -> Bool {
        let bytes = try await reading.run { [command] () throws(CommandError) in
            try command.process.output.read(4_096)
        }
        guard let bytes else { return false }
        seen.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        return true
    }

    func end() async throws -> Int32 {
        while try await more() {}
        return try await command.finish().code
    }
}
