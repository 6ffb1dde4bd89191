import Foundation

/// Measured times, as a line of text.
struct Distribution: CustomStringConvertible {
    private let sorted: [Duration]

    init(_ times: [Duration]) { sorted = times.sorted() }

    var count: Int { sorted.count }

    /// Returns the quantile of the times, from 0 to 1.
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
