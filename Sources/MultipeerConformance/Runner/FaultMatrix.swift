import Foundation

/// Which cases fail with each fault of the reference peer, so that a fault shows where its rule is tested and not elsewhere.
package struct FaultMatrix: Codable, Sendable {
    /// One fault.
    package struct Row: Codable, Sendable {
        /// The cases that name it.
        package var named: [String]
        /// Whether an exchange of messages on a link works; where it does not, no other case is tried.
        package var isExchangePossible: Bool
        /// The cases that were tried and failed, of those that name it and of the others in their sections.
        package var failing: [String]
        /// The number of cases that were tried.
        package var tried: Int

        /// The cases that failed and do not name it.
        package var others: [String] { failing.filter { !named.contains($0) } }
    }

    package var about =
        "Which cases fail with each fault of the suite's own peer: those that name it, and the quick cases of their sections. "
        + "Written by 'multipeer-conform selftest --matrix'; a test compares it with the cases and with faults.json."
    /// The edition of the suite.
    package var edition = Suite.edition
    package var faults: [String: Row]

    /// The file, with one line for each fault, so that changes are easy to see.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func text(_ value: some Encodable) throws -> String {
            String(decoding: try encoder.encode(value), as: UTF8.self)
        }
        let rows = try faults.sorted { $0.key < $1.key }.map {
            "    \(try text($0.key)): \(try text($0.value))"
        }
        let lines = [
            "{", "  \"about\": \(try text(about)),", "  \"edition\": \(try text(edition)),",
            "  \"faults\": {", rows.joined(separator: ",\n"), "  }", "}", "",
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }
}

extension FaultMatrix {
    /// The exchange before a case, as a case of its own.
    private static let exchange = Case(
        "EXCHANGE", "6", "an exchange of messages works", stimulus: "T links, sends a message and gets one",
        expectation: "both arrive", rules: [], bugs: []
    ) { try SanityCheck($0).exchange() }

    /// Tries each fault with the cases that name it, and with all others that are quick, of the same sections.
    ///
    /// * `shim`: returns the command line of the peer with a fault.
    /// * `tell`: receives each row as soon as it is known.
    package init(
        bugs: [String], cases: [Case], seed: UInt64, jobs: Int, shim: @escaping @Sendable (String) -> String,
        tell: @escaping @Sendable (String, Row) -> Void
    ) {
        let rows = Parallel.map(bugs, jobs: jobs) { bug -> (String, Row) in
            let row = FaultMatrix.row(bug, cases, seed, shim(bug))
            tell(bug, row)
            return (bug, row)
        }
        faults = Dictionary(uniqueKeysWithValues: rows.filter { !$0.1.named.isEmpty })
    }

    private static func row(_ bug: String, _ cases: [Case], _ seed: UInt64, _ shim: String) -> Row {
        func fails(_ one: Case, within seconds: Int? = nil) -> Bool {
            var plan = TestPlan(shim: shim, cases: [one], seed: seed)
            (plan.jobs, plan.isExchangeMade, plan.isStrict, plan.timeout) = (1, false, true, seconds)
            return TestRunner(plan)().contains { $0.verdict == .fail }
        }
        let named = cases.filter { $0.bugs.contains { $0.name == bug } }
        let sections = Set(named.map(\.section))
        let isPossible = !fails(exchange)
        let others = cases.filter { one in
            isPossible && one.isQuick && sections.contains(one.section) && !named.contains { $0.id == one.id }
        }
        // A case that fails once may have been short of time; those that name the fault are judged by `Selftest`.
        let failing = named.filter { fails($0) } + others.filter { fails($0, within: 10) && fails($0) }
        return Row(
            named: named.map(\.id), isExchangePossible: isPossible, failing: failing.map(\.id).sorted(),
            tried: named.count + others.count)
    }
}
