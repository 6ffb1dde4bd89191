import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: exit codes and warnings", .inTurns)
struct ExitCodeTests {
    @Test("130 means that the user interrupted this command, never that the peer cancelled something")
    func cancelled() {
        let error = CommandError(MultipeerError(.cancelled, "ann has withdrawn the invitation"))
        #expect(error.exit == .linkFailed)
    }

    @Test("a key log that only the environment asks for is reported, once")
    func keyLog() async throws {
        let folder = try Folder()
        let path = folder.path("keys")
        let waiting = ["receive", "--yes", "--timeout", "1", "--into", folder.path("")]
        let variable = try await Command(waiting, environment: ["SSLKEYLOGFILE": path]).finish()
        #expect(variable.errorLines.count { $0.contains("SSLKEYLOGFILE is set") && $0.contains(path) } == 1)
        let option = try await Command(waiting + ["--keylog", path]).finish()
        #expect(!option.errors.contains("SSLKEYLOGFILE"))
    }
}
