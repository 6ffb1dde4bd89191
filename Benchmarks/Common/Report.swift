/// The result of one side, printed as one line of JSON with the same keys as the twin's.
package struct Report: Sendable {
    package var sent = 0
    package var received = 0
    package var cpuSeconds = 0.0
    /// The cipher suite of the link.
    package var suite: String?
    /// The group of the link's key exchange.
    package var group: String?
    /// The time from the first send to the receiver's answer.
    package var seconds: Double?
    /// The latency of each round trip or connect.
    package var latencies: [Double] = []
    /// Figures of one mode only, by their key.
    package var further: [String: Double] = [:]

    package init(
        sent: Int = 0, received: Int = 0, seconds: Double? = nil, further: [String: Double] = [:]
    ) {
        self.sent = sent
        self.received = received
        self.seconds = seconds
        self.further = further
    }

    package func line(for assignment: Assignment) -> String {
        var fields = [
            "\"side\": \"\(assignment.side.rawValue)\"", "\"mode\": \"\(assignment.mode.rawValue)\"",
            "\"size\": \(assignment.size)", "\"count\": \(assignment.count)", "\"sent\": \(sent)",
            "\"received\": \(received)",
        ]
        if let seconds {
            // Only datagrams that arrived count.
            let rate = Double(assignment.mode == .datagrams ? received : sent) / seconds
            fields += [
                "\"seconds\": \(seconds)", "\"messages_per_s\": \(rate)",
                "\"mb_per_s\": \(rate * Double(assignment.size) / 1e6)",
            ]
        }
        if !latencies.isEmpty {
            let sum = latencies.reduce(0, +)
            let sorted = latencies.sorted()
            fields += [
                "\"seconds\": \(sum)", "\"mean_us\": \(sum / Double(sorted.count) * 1e6)",
                "\"p50_us\": \(sorted[sorted.count / 2] * 1e6)",
                "\"p99_us\": \(sorted[sorted.count * 99 / 100] * 1e6)",
            ]
        }
        fields += ["\"cpu_s\": \(cpuSeconds)", "\"peak_rss_kib\": \(Resources.peakKiB)"]
        fields += [("suite", suite), ("group", group)].map { key, name in
            "\"\(key)\": " + (name.map { "\"\($0)\"" } ?? "null")
        }
        fields += further.sorted { $0.key < $1.key }.map { "\"\($0)\": \($1)" }
        return "{" + fields.joined(separator: ", ") + "}"
    }
}
