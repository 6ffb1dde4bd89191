import Foundation

/// The system's counters of this process.
package struct Figures: CustomStringConvertible {
    package let threads: Int
    package let descriptors: Int
    /// In MiB.
    package let memory: Int

    package init() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        threads = number("Threads")
        memory = number("VmRSS") / 1_024
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    package var description: String { "\(threads) threads, \(descriptors) descriptors, \(memory) MiB" }
}
