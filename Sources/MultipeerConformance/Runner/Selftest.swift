/// A test of the suite itself: every fault that a case names is tried with that case.
package struct Selftest: Sendable {
    /// A fault, and one case that claims to find it.
    package struct FaultCheck: Sendable {
        package let bug: Fault
        package let subject: Case
    }

    /// The result of a check.
    package struct FaultCheckResult: Sendable {
        package let check: FaultCheck
        /// Whether the fault was found, in one order of uids at least.
        package let isCaught: Bool
        package let outcomes: [CaseOutcome]

        /// Whether the machine cannot show it: the case was skipped.
        package var isSkipped: Bool {
            !outcomes.isEmpty && outcomes.allSatisfy { $0.verdict == .skip }
        }
    }

    /// All faults of the peer, each with every case that names it.
    package let checks: [FaultCheck]
    /// Faults of the peer that no case names.
    package let unnamed: [String]
    /// Faults that cases name and the peer does not have.
    package let unknown: [String]

    /// * `bugs`: the faults of the reference peer.
    /// * `cases`: the cases to run.
    package init(bugs: [String], cases: [Case]) {
        checks = cases.flatMap { one in
            one.bugs.filter { bugs.contains($0.name) }.map { FaultCheck(bug: $0, subject: one) }
        }
        let named = Set(Suite.cases.flatMap(\.bugs).map(\.name))
        unnamed = bugs.filter { !named.contains($0) }
        unknown = named.subtracting(bugs).sorted()
    }

    /// Runs all checks; `shim` returns the command line of the peer with a fault, the last closure receives each result.
    package func run(
        seed: UInt64, jobs: Int, shim: (String) -> String,
        tell: @escaping @Sendable (FaultCheckResult) -> Void
    ) -> [FaultCheckResult] {
        let tasks = checks.map { check in
            var plan = TestPlan(shim: shim(check.bug.name), cases: [check.subject], seed: seed)
            plan.jobs = 1
            plan.isExchangeMade = false
            // Recommendations count here, too.
            plan.isStrict = true
            return (check, plan)
        }
        return Parallel.map(tasks, jobs: jobs) { check, plan in
            let outcomes = TestRunner(plan)()
            let finding = FaultCheckResult(
                check: check, isCaught: outcomes.contains(where: check.bug.isShown), outcomes: outcomes)
            tell(finding)
            return finding
        }
    }
}

extension Selftest.FaultCheckResult {
    /// The case's messages, in each order of uids.
    package var words: String {
        outcomes.map { $0.reason.isEmpty ? $0.verdict.rawValue : "\($0.verdict.rawValue) \($0.reason)" }
            .joined(separator: "; ")
    }
}

extension Fault {
    /// Returns whether a case has failed because of this fault. A process that ends, or does not answer, shows a crash
    /// and nothing else.
    func isShown(by outcome: CaseOutcome) -> Bool {
        guard outcome.verdict == .fail else { return false }
        if let sign { return outcome.reason.contains(sign) }
        return !outcome.isOfProcess || name.contains("crashes")
    }
}
