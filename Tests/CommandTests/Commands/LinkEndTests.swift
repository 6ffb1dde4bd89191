import Foundation
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: links that end badly", .serialized, .inTurns)
struct LinkEndTests {
    @Test("a peer that is killed in the middle is noticed, with a reason and exit code 1")
    func killed() async throws {
        let pair = try LinkProcesses()
        try await pair.linked()
        try await pair.ann.send(pattern(100_000, seed: 3))
        pair.bob.process.signal(SIGKILL)
        let ann = try await pair.ann.finish(nil)
        #expect(ann.code == 1)
        // What the system adds, such as a reset, depends on the moment.
        let complaint = "the link to bob ended before everything had arrived: the connection was lost"
        #expect(ann.errorLines.last?.hasPrefix("multipeer: " + complaint) == true)
        #expect(try await pair.bob.finish().code == 128 + SIGKILL)
    }

    @Test("SIGQUIT ends a command at once and prints nothing")
    func quit() async throws {
        let pair = try LinkProcesses()
        try await pair.linked()
        pair.bob.process.signal(SIGQUIT)
        let ending = try await pair.bob.finish()
        #expect(ending.code == 128 + SIGQUIT)
        #expect(ending.errors.split(separator: "\n").count < 6, "\(ending.errors)")
        #expect(try await pair.ann.finish(nil).code == 1)
    }

    @Test("a peer that is interrupted says goodbye", arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(_ signal: Int32) async throws {
        let pair = try LinkProcesses()
        try await pair.linked()
        pair.bob.process.signal(signal)
        let ann = try await pair.ann.finish(nil)
        #expect(ann.code == 1)
        #expect(ann.errorLines.last?.contains("the other side has ended it") == true)
        #expect(try await pair.bob.finish().code == 128 + signal)
    }

    @Test("a closed standard output ends both sides without a crash")
    func closedOutput() async throws {
        let pair = try LinkProcesses()
        try await pair.linked()
        pair.bob.closeOutput()
        // It may end before it has taken all of this.
        try? await pair.ann.send(pattern(200_000, seed: 4))
        let ann = try await pair.ann.finish(nil)
        #expect(ann.code == 1)
        #expect(pair.bob.process.wait() == 4)
        #expect(try await pair.bob.says("multipeer: standard output was closed"))
    }

    @Test("a receiver whose output is not read slows the sender down, and the memory of neither grows")
    func stalled() async throws {
        let pair = try LinkProcesses()
        try await pair.linked()
        let before = try [pair.ann, pair.bob].map(residentKiB)
        let taken = try await pair.ann.sendsUntilStalled([UInt8](repeating: 7, count: 65_536), most: 1 << 30)
        #expect(taken < 64 << 20)
        for (process, old) in zip([pair.ann, pair.bob], before) {
            #expect(try residentKiB(process) - old < 64 << 10)
        }
        async let bob = pair.bob.finish()
        let ann = try await pair.ann.finish()
        #expect(ann.code == 0)
        #expect(try await bob.output.count == taken)
    }

    /// What a process has in memory now.
    private func residentKiB(_ command: Command) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(command.process.id)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
}
