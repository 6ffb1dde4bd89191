import Foundation

/// What the system counts of this process.
struct Figures: CustomStringConvertible {
    let threads: Int
    let descriptors: Int
    /// In MiB.
    let memory: Int

    init() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        threads = number("Threads")
        memory = number("VmRSS") / 1_024
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    var description: String { "\(threads) threads, \(descriptors) descriptors, \(memory) MiB" }
}

/// Times that were measured, as a line of them.
struct Distribution: CustomStringConvertible {
    private let sorted: [Duration]

    init(_ times: [Duration]) { sorted = times.sorted() }

    var count: Int { sorted.count }

    /// The time that this part of them does not exceed, from 0 to 1.
    func quantile(_ part: Double) -> Duration {
        sorted.isEmpty ? .zero : sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }

    var description: String {
        let parts = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("most", 1.0)]
        return parts.map { "\($0) \(quantile($1).milliseconds) ms" }.joined(separator: ", ")
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    var milliseconds: String { String(format: "%.2f", seconds * 1_000) }
}
