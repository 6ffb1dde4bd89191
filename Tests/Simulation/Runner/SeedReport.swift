import Foundation
import MultipeerSimulation

/// What some seeds showed, as JSON, so that machines can share the seeds and one of them can join what they found.
struct SeedReport: Codable, Sendable {
    struct Seeds: Codable, Sendable {
        var from: UInt64
        var count: UInt64

        var end: UInt64 { from + count }
    }

    struct Failure: Codable, Sendable {
        let seed: UInt64
        let mode: String
        /// Its number.
        let invariant: String
        let text: String
    }

    private static let format = "simulate/1"

    private(set) var format = SeedReport.format
    /// In ascending order, and apart from each other.
    var seeds: [Seeds]
    let modes: [String]
    var failures: [Failure] = []
    /// The hashes of all runs together, in hexadecimal: the same for the same seeds, however they are shared.
    var hash = "0"
    var statistics = RunStatistics()
    /// The sum over all machines, not of their processors.
    var seconds = 0.0

    /// Reads the report in a file.
    static func read(_ file: String) throws(Options.Misuse) -> SeedReport {
        do {
            let report = try JSONDecoder().decode(
                SeedReport.self, from: try Data(contentsOf: URL(filePath: file)))
            guard report.format == SeedReport.format, UInt64(report.hash, radix: 16) != nil,
                report.seeds.allSatisfy({ $0.count <= UInt64.max - $0.from })
            else { throw Options.Misuse("it is not a report of this version") }
            return report
        } catch let misuse as Options.Misuse {
            throw Options.Misuse("\(file): \(misuse)")
        } catch {
            throw Options.Misuse("\(file): \(error.localizedDescription)")
        }
    }

    func write(to file: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(self) + Data("\n".utf8)
        if file == "-" {
            FileHandle.standardOutput.write(bytes)
        } else {
            try bytes.write(to: URL(filePath: file), options: .atomic)
        }
    }

    /// Adds the seeds of another report of the same modes, none of which this one has.
    mutating func merge(_ other: SeedReport) throws(Options.Misuse) {
        guard Set(modes) == Set(other.modes) else { throw Options.Misuse("the reports are of other modes") }
        for one in other.seeds {
            if let twice = seeds.first(where: { $0.from < one.end && one.from < $0.end }) {
                throw Options.Misuse("seed \(max(twice.from, one.from)) is in two reports")
            }
        }
        seeds = SeedReport.joined(seeds + other.seeds)
        failures += other.failures
        failures.sort { ($0.seed, $0.mode) < ($1.seed, $1.mode) }
        let (one, two) = (UInt64(hash, radix: 16) ?? 0, UInt64(other.hash, radix: 16) ?? 0)
        hash = String(one ^ two, radix: 16)
        statistics += other.statistics
        seconds += other.seconds
    }

    private static func joined(_ seeds: [Seeds]) -> [Seeds] {
        seeds.sorted { $0.from < $1.from }.reduce(into: []) { joined, one in
            if let last = joined.last, last.end == one.from {
                joined[joined.count - 1].count += one.count
            } else if one.count > 0 {
                joined.append(one)
            }
        }
    }

    /// The first seed between the first and the last one that no report has.
    var firstMissing: UInt64? { seeds.count > 1 ? seeds[0].end : nil }
    var count: UInt64 { seeds.reduce(0) { $0 + $1.count } }

    /// The last line of the output.
    var verdict: String {
        guard let first = failures.first else { return "clean seeds=\(count)" }
        return "failed seed=\(first.seed) invariant=\(first.invariant) mode=\(first.mode)"
    }
}
