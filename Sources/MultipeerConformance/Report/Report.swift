import Foundation

/// The outcomes of a run, in every form in which they are written.
package struct Report: Sendable {
    /// How the run was started, so that it can be repeated.
    package struct Invocation: Sendable {
        package let shim: String
        package let seed: UInt64
        package let isStrict: Bool

        package init(shim: String, seed: UInt64, isStrict: Bool) {
            self.shim = shim
            self.seed = seed
            self.isStrict = isStrict
        }
    }

    package let order: Invocation
    package let outcomes: [CaseOutcome]

    /// The number of cases whose diagram and wire log are in the HTML page: a browser should open it at once.
    let mostDiagrams: Int

    package init(_ order: Invocation, _ outcomes: [CaseOutcome], mostDiagrams: Int = 60) {
        self.order = order
        self.outcomes = outcomes
        self.mostDiagrams = mostDiagrams
    }

    package func count(_ verdict: CaseVerdict) -> Int { outcomes.count { $0.verdict == verdict } }

    /// Returns the outcomes of one section, in the order of the suite.
    func outcomes(of section: String) -> [CaseOutcome] { outcomes.filter { $0.subject.section == section } }

    /// The sections that have outcomes.
    var sections: [(name: String, title: String)] {
        Suite.sections.filter { !outcomes(of: $0.name).isEmpty }.map { ($0.name, $0.title) }
    }

    /// Such as "78 PASS, 1 FAIL"; verdicts that no case got are left out.
    package var summary: String { Report.summary(outcomes) }

    static func summary(_ outcomes: [CaseOutcome]) -> String {
        let counts = CaseVerdict.allCases.map { verdict in (verdict, outcomes.count { $0.verdict == verdict })
        }
        let words = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0.rawValue)" }
        return words.isEmpty ? "nothing was run" : words.joined(separator: ", ")
    }
}

extension Double {
    /// Seconds with three digits after the point.
    var precise: String { String(format: "%.3f", self) }
}
