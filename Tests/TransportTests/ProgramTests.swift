import Glibc
import TestSupport
import Testing

@Suite("Processes of other programs", .inTurns)
struct ProgramTests {
    @Test("a program inherits its standard streams and no other descriptor, even one that stays open on exec")
    func descriptors() throws {
        let other = dup(STDERR_FILENO)
        defer { close(other) }
        let ending = try ToolProcess.run(
            "/bin/sh",
            ["-c", "for place in 0 1 2 \(other); do [ -e /proc/self/fd/$place ] && echo $place; done"])
        #expect(other > 2 && ending.output == "0\n1\n2\n")
    }

    @Test("the end of a program is its exit code, or 128 plus the number of the signal")
    func endings() throws {
        #expect(try ToolProcess.run("/bin/sh", ["-c", "echo out; echo err >&2; exit 7"]).code == 7)
        #expect(try ToolProcess.run("/bin/sh", ["-c", "kill -TERM $$"]).code == 128 + SIGTERM)
        #expect(throws: ToolProcess.NotStarted.self) { try ToolProcess.run("/bin/absent", []) }
    }

    @Test("standard input begins with its text and stays open, until the process is killed")
    func input() async throws {
        let process = try ToolProcess("/bin/sh", ["-c", "read line; echo $line; cat"], input: "first\n")
        try await within {
            while process.output != "first\n" {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        process.kill()
        #expect(await process.end().code == 128 + SIGKILL)
    }
}
