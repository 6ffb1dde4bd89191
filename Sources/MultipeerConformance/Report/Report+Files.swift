import Foundation

/// A report as it is stored in a file, and read again to repeat a case.
package struct SavedReport: Codable, Sendable {
    /// One outcome.
    package struct Line: Codable, Sendable {
        package let id: String
        package let order: String
        package let repetition: Int
        package let section: String
        package let chapter: String
        package let level: String
        package let title: String
        package let stimulus: String
        package let expectation: String
        package let rules: [String]
        package let verdict: String
        package let reason: String
        package let seconds: Double
        /// The log of a case that did not pass.
        package let log: [String]?
    }

    /// Which edition of the suite it was; nil in reports of the first one.
    package let suite: String?
    package let shim: String
    package let seed: UInt64
    package let isStrict: Bool
    package let counts: [String: Int]
    package let cases: [Line]
}

extension Report {
    /// Returns JSON with everything that is needed to repeat a case.
    package func json() throws -> [UInt8] {
        let lines = outcomes.map { outcome in
            let one = outcome.subject
            return SavedReport.Line(
                id: one.id, order: outcome.order.rawValue, repetition: outcome.repetition,
                section: one.section,
                chapter: one.chapter, level: one.level.rawValue, title: one.title, stimulus: one.stimulus,
                expectation: one.expectation, rules: one.rules, verdict: outcome.verdict.rawValue,
                reason: outcome.reason, seconds: outcome.seconds,
                log: outcome.verdict == .pass ? nil : outcome.logLines)
        }
        let counts = Dictionary(uniqueKeysWithValues: CaseVerdict.allCases.map { ($0.rawValue, count($0)) })
        let kept = SavedReport(
            suite: Suite.edition, shim: order.shim, seed: order.seed, isStrict: order.isStrict,
            counts: counts, cases: lines)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(kept)) + [UInt8(ascii: "\n")]
    }

    /// JUnit's XML: a suite for each section.
    package var junit: String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>"]
        for (name, title) in sections {
            let outcomes = outcomes(of: name)
            let failures = outcomes.count { $0.verdict == .fail }
            let errors = outcomes.count { $0.verdict == .fault }
            let skipped = outcomes.count { $0.verdict == .skip }
            lines.append(
                "  <testsuite name=\"\(name): \(title.escaped)\" tests=\"\(outcomes.count)\" failures=\"\(failures)\" "
                    + "errors=\"\(errors)\" skipped=\"\(skipped)\">")
            for outcome in outcomes { lines += element(outcome) }
            lines.append("  </testsuite>")
        }
        return (lines + ["</testsuites>"]).joined(separator: "\n") + "\n"
    }

    private func element(_ outcome: CaseOutcome) -> [String] {
        let head =
            "    <testcase classname=\"\(outcome.subject.section)\" name=\"\(outcome.name): "
            + "\(outcome.subject.title.escaped)\" time=\"\(outcome.seconds.precise)\""
        let reason = outcome.reason.escaped
        let inner: [String]
        switch outcome.verdict {
        case .pass: return [head + "/>"]
        case .weak: inner = ["      <system-out>WEAK: \(reason)</system-out>"]
        case .skip: inner = ["      <skipped message=\"\(reason)\"/>"]
        case .fail:
            let text = "expected: \(outcome.subject.expectation)\n\n\(outcome.excerpt)".escaped
            inner = ["      <failure message=\"\(reason)\">\(text)</failure>"]
        case .fault: inner = ["      <error message=\"\(reason)\">\(outcome.excerpt.escaped)</error>"]
        }
        return [head + ">"] + inner + ["    </testcase>"]
    }
}
