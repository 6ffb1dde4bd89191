/// A test of the cases that are judged from outside: each must find a planted fault on the wire alone.
package enum OutsideSelftest {
    /// One fault, in a case that names it.
    package struct Finding: Sendable {
        package let bug: String
        package let id: String
        /// Whether the case has failed because of the fault, or the peer was convicted before.
        package let isCaught: Bool
        package let words: String
    }

    /// Tries each fault that one of these cases names. A peer that does not link at all is convicted before any case.
    ///
    /// * `program`: the command line of `multipeer-conform`.
    package static func run(
        _ cases: [Case], program: String, seed: UInt64, jobs: Int, tell: @escaping @Sendable (Finding) -> Void
    ) -> [Finding] {
        let checks = cases.filter { OutsideCases.judged.contains($0.id) }.flatMap { one in
            one.bugs.map { (one, $0) }
        }
        return Parallel.map(checks, jobs: jobs) { one, bug in
            let finding = attempt(one, bug, program, seed)
            tell(finding)
            return finding
        }
    }

    private static func attempt(_ one: Case, _ bug: Fault, _ program: String, _ seed: UInt64) -> Finding {
        let peer = AcceptingPeer(shim: "\(program) peer --bug \(bug.name)")
        defer { peer.stop() }
        do {
            let target = try peer.address()
            let known = try OutsideProbe.examine(target)
            var plan = OutsideProbe.plan(known, at: target, program: program, cases: [one], seed: seed)
            // Recommendations count here, too.
            plan.isStrict = true
            let outcomes = TestRunner(plan)()
            let words = outcomes.map { "\($0.verdict.rawValue) \($0.reason)" }.joined(separator: "; ")
            return Finding(
                bug: bug.name, id: one.id, isCaught: outcomes.contains(where: bug.isShown), words: words)
        } catch {
            return Finding(
                bug: bug.name, id: one.id, isCaught: error is OutsideProbe.NotLinked, words: "\(error)")
        }
    }
}
