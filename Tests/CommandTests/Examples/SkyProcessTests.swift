import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

/// `sky` and its workers as processes: stopped, interrupted, on a terminal, and without a reader.
@Suite("Examples: the processes of sky", .inTurns)
struct SkyProcessTests {
    private let service = ServiceType.random()

    private func sky(_ words: [String], through wrapper: [String] = []) throws -> Command {
        try Command(
            words + ["--service", service, "--size", "16"], program: "sky", environment: ["TERM": "xterm"],
            through: wrapper)
    }

    /// The processes of this test, without those around them: the workers, and with "" for a name all.
    private func processes(_ name: String) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { id in
            let line = try? Data(contentsOf: URL(filePath: "/proc/\(id)/cmdline"))
            let words = (line ?? Data()).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.first?.hasSuffix("/sky") == true && words.contains(service)
                && (name.isEmpty || words.contains(name))
        }
    }

    /// Whether all of them end by themselves.
    private func areGone() async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(30)
        while try !processes("").isEmpty {
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    private func stop(_ name: String, _ number: Int32 = SIGSTOP) throws {
        kill(try #require(try processes(name).first, "\(name) does not run"), number)
    }

    @Test(
        "a worker that was suspended until it was lost is invited again later, and no tile is lost"
    )
    func heldUp() async throws {
        // Without the worker the tiles last for 48 s: it is lost after 10 and has to be back before they are all given out,
        // however late this test notices it on a busy machine.
        let sky = try sky(["--workers", "1", "--tiles", "32", "--wait", "6000"])
        #expect(try await sky.prints("32 tiles for 2 observatories"))
        try stop("worker-1")
        try #require(await sky.prints("worker-1 was lost, 4 tiles are reassigned"), "\(sky.written)")
        try stop("worker-1", SIGCONT)
        #expect(try await sky.prints("worker-1 joined"))
        #expect(try await sky.prints(", worker-1: "))
        let ending = try await sky.finish(nil)
        #expect(ending.code == 0)
        #expect(ending.text.contains(" stars on 32 of 32 tiles, "))
        #expect(!ending.text.contains("lost with"), "it is here at the end")
    }

    @Test("a worker that is still suspended at the end does not delay the others")
    func stopped() async throws {
        // A worker that is not killed at once has five seconds to exit. On a busy machine other things may take as long.
        try await within(.seconds(240)) { while try await timeToEnd() > .seconds(5) {} }
    }

    /// Suspends a worker, and returns how long the end took after the last tile.
    private func timeToEnd() async throws -> Duration {
        let sky = try sky(["--workers", "2", "--tiles", "12", "--wait", "4000"])
        #expect(try await sky.prints("12 tiles for 3 observatories"))
        try stop("worker-1")
        #expect(try await sky.prints(" stars on 12 of 12 tiles, "))
        let start = ContinuousClock.now
        let ending = try await sky.finish(nil)
        let passed = ContinuousClock.now - start
        #expect(ending.code == 0 && ending.errors == "")
        #expect(ending.text.contains(", lost with 4"))
        #expect(try processes("").isEmpty)
        return passed
    }

    @Test("on a terminal all lines are rewritten in place, and the summary follows below them")
    func terminal() async throws {
        let typist = TerminalUser(
            try sky(["--workers", "2", "--tiles", "12", "--wait", "50"], through: TerminalUser.wrapper))
        try await typist.sees("12 tiles for 3 observatories")
        // Three and one for all of them: up there, and written again.
        try await typist.sees("\u{1b}[4A\r")
        #expect(try await typist.end() == 0)
        let last = try #require(typist.screen.components(separatedBy: "\u{1b}[4A\r").last)
        let lines = last.replacing("\u{1b}[K", with: "").replacing("\u{1b}[J", with: "")
            .split(separator: "\r\n").map(String.init)
        #expect(lines.dropFirst(3).first?.hasSuffix("########  12 of 12") == true)
        #expect(lines.dropFirst(4).first?.contains(" stars on 12 of 12 tiles, ") == true)
        #expect(lines.last?.hasSuffix(" ms in total") == true)
    }

    @Test("interrupted at a terminal, all processes end with the exit code of an interrupt")
    func interrupted() async throws {
        let typist = TerminalUser(
            try sky(["--workers", "2", "--tiles", "5000"], through: TerminalUser.wrapper))
        try await typist.sees("5000 tiles for 3 observatories")
        #expect(try processes("").count == 3)
        try await typist.types("\u{3}")
        #expect(try await typist.end() == 128 + SIGINT)
        #expect(try await areGone())
    }

    @Test("a process that is interrupted alone stops its workers", arguments: [SIGINT, SIGTERM, SIGKILL])
    func ended(_ number: Int32) async throws {
        let sky = try sky(["--workers", "2", "--tiles", "5000"])
        #expect(try await sky.prints("5000 tiles for 3 observatories"))
        sky.process.signal(number)
        #expect(try await sky.finish(nil).code == 128 + number)
        #expect(try await areGone())
    }

    @Test(
        "a standard output that cannot be written to gives one line on standard error and exit code 1",
        arguments: [
            (["--help"], ">/dev/full"), (["--workers", "1"], ">/dev/full"), ([], ">/dev/full"),
            (["--help"], ">&-"), (["--workers", "1"], ">&-"), ([], ">&-"),
        ])
    func deaf(_ words: [String], _ output: String) async throws {
        let wrapper = ["/bin/sh", "-c", "exec \"$@\" \(output)", "sh"]
        let ending = try await sky(words, through: wrapper).finish(nil)
        #expect(ending.code == 1)
        #expect(ending.errors.hasPrefix("sky: cannot write to standard output: "))
        #expect(ending.errors.split(separator: "\n").count == 1)
        #expect(try await areGone())
    }

    @Test("a closed output pipe ends the process and its workers")
    func closedPipe() async throws {
        let sky = try sky(["--workers", "1", "--tiles", "5000", "--wait", "10"])
        #expect(try await sky.prints("5000 tiles for 2 observatories"))
        sky.closeOutput()
        #expect([1, 128 + SIGPIPE].contains(sky.process.wait()))
        #expect(try await areGone())
    }

    @Test("without workers the process itself is the slow one")
    func slow() async throws {
        let sky = try sky(["--workers", "0", "--tiles", "1", "--wait", "0", "--slow", "700"])
        let text = try await sky.finish(nil).text
        let time = try #require(text.firstMatch(of: /stars, (\d+) ms\n/)).1
        #expect(try #require(Int(time)) >= 700)
    }
}
