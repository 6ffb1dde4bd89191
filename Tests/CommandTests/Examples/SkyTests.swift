import Foundation
import Multipeer
import TestSupport
import Testing

/// `sky` as separate processes: the same answer, whichever of them scans and whatever happens to them.
@Suite("Examples: sky", .serialized, .inTurns)
struct SkyTests {
    private static let what = ["--tiles", "30", "--size", "48", "--seed", "7"]

    /// Which process scanned which tile, and the lines of the summary.
    private struct Outcome {
        let code: Int32
        let lines: [Substring]
        let errors: String

        init(_ ending: Command.Ending) {
            code = ending.code
            lines = ending.text.split(separator: "\n")
            errors = ending.errors
        }

        /// How often each tile was counted.
        var counts: [Int: Int] {
            lines.reduce(into: [:]) { counts, line in
                guard let match = line.wholeMatch(of: /tile (\d+), .*: \d+ stars, \d+ ms/) else { return }
                counts[Int(match.1) ?? -1, default: 0] += 1
            }
        }

        /// "59 stars on 24 of 24 tiles, fingerprint …".
        var answer: Substring? { lines.first { $0.contains("fingerprint") } }
    }

    private func sky(_ words: [String]) async throws -> Outcome {
        let outcome = Outcome(try await Command(words + SkyTests.what, program: "sky").finish(nil))
        #expect(outcome.code == 0, "\(outcome.lines) \(outcome.errors)")
        #expect(outcome.counts == Dictionary(uniqueKeysWithValues: (0..<30).map { ($0, 1) }))
        return outcome
    }

    @Test("with workers, a slow one, clouds and a killed worker the result is the one of a single process")
    func answers() async throws {
        let alone = try await sky(["--workers", "0", "--wait", "0"])
        let answer = try #require(alone.answer)
        #expect(answer.contains(" stars on 30 of 30 tiles, "))

        let together = try await sky(["--workers", "2", "--wait", "20"])
        #expect(together.answer == answer)
        for name in ["worker-1", "worker-2"] {
            #expect(together.lines.contains { $0.contains(", \(name): ") }, "\(name) has scanned nothing")
        }

        let slow = try await sky(["--workers", "2", "--wait", "5", "--slow", "400"])
        #expect(slow.answer == answer)

        let cloudy = try await sky(["--workers", "2", "--wait", "10", "--fail", "6"])
        #expect(cloudy.answer == answer)
        let repeated = cloudy.lines.filter { $0.hasSuffix("; retrying here") }
        #expect(repeated.count == 6)
        #expect(repeated.allSatisfy { $0.contains("clouds cover tile ") })

        let killed = try await sky(["--workers", "3", "--wait", "60", "--kill", "4", "--fail", "2"])
        #expect(killed.answer == answer)
        #expect(killed.lines.contains { $0.hasPrefix("worker-1 was lost, ") })
        #expect(killed.lines.contains { $0.hasPrefix("worker-1 ") && $0.contains(", lost with ") })
    }

    @Test("processes that were started by hand find each other; a waiting one ends with its input")
    func byHand() async throws {
        let service = ["--service", ServiceType.random()]
        let ann = try Command(["--name", "ann"] + service, program: "sky")
        let bob = try Command(["--name", "bob", "--slow", "10"] + service, program: "sky")
        for one in [ann, bob] { #expect(try await one.prints(" is waiting for tiles")) }
        let cid = try await sky(["--name", "cid", "--peers", "2", "--wait", "20"] + service)
        for name in ["ann", "bob"] { #expect(cid.lines.contains { $0 == "\(name) joined" }) }
        for one in [ann, bob] {
            let ending = try await one.finish()
            #expect(ending.code == 0)
            #expect(ending.text.contains("tile "))
        }
    }

    @Test("a process that waits for others in vain gives up in time, with exit code 1")
    func alone() async throws {
        let words = ["--peers", "1", "--within", "1", "--service", ServiceType.random()]
        let ending = try await Command(words, program: "sky").finish(nil)
        #expect(ending.code == 1)
        #expect(ending.errors.hasPrefix("sky: not done within "))
    }

    @Test("help goes to standard output, and wrong arguments end with exit code 2")
    func usage() async throws {
        let help = try await Command(["--help"], program: "sky").finish()
        #expect(help.code == 0)
        #expect(help.text.hasPrefix("usage: sky "))
        #expect(help.text.split(separator: "\n").allSatisfy { $0.count <= 110 })
        for words in [
            ["--loud"], ["--tiles", "none"], ["--kill", "1"], ["--service", "Not a Type"],
            ["--workers", "2", "--service", "BAD"], ["--peers", "1", "--name", ""],
        ] {
            let wrong = try await Command(words, program: "sky").finish(nil)
            #expect(wrong.code == 2, "\(words)")
            #expect(wrong.errors.hasPrefix("sky: "))
            #expect(wrong.errors.split(separator: "\n").count == 1)
        }
    }
}
