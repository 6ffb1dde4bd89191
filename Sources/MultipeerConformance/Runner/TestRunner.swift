/// The cases of a run, and its options.
package struct TestPlan: Sendable {
    /// The command line that starts the subject's shim.
    package var shim: String
    package var cases: [Case]
    package var seed: UInt64
    package var repetitions = 1
    /// The number of the first repetition, on which the random numbers depend.
    package var firstRepetition = 0
    /// The timeout in seconds for each case instead of its own.
    package var timeout: Int?
    /// The number of cases that run at a time.
    package var jobs = 4
    /// Whether a WEAK fails.
    package var isStrict = false
    /// Cases that are skipped, each with the reason.
    package var skips: [String: String] = [:]
    /// Whether an exchange that must work is made before and after each case. False for a subject that is known to be
    /// broken.
    var isExchangeMade = true
    /// Whether the subject is controlled by connection data alone: only some cases are judged then.
    package var isOutside = false

    package init(shim: String, cases: [Case], seed: UInt64) {
        self.shim = shim
        self.cases = cases
        self.seed = seed
    }

    /// Returns whether a case runs in addition to the others, since it does little but wait. A peer that is judged from outside
    /// links with one tester at a time.
    func runsAlongside(_ subject: Case) -> Bool { !isOutside && subject.isWaiting }
}

/// The outcome of one run of one case.
package struct CaseOutcome: Sendable {
    package let subject: Case
    package let order: UIDOrder
    package let repetition: Int
    package let verdict: CaseVerdict
    /// The reason, if it is not PASS.
    package let reason: String
    /// Whether it failed because the process of the subject ended, or did not answer.
    let isOfProcess: Bool
    package let seconds: Double
    let log: [TrafficLog.Line]

    init(
        subject: Case, order: UIDOrder, repetition: Int, verdict: CaseVerdict, reason: String,
        isOfProcess: Bool,
        seconds: Double, log: [TrafficLog.Line]
    ) {
        self.subject = subject
        self.order = order
        self.repetition = repetition
        self.verdict = verdict
        // Parts of it may come from the subject.
        self.reason = reason.withoutTokens.plain()
        self.isOfProcess = isOfProcess
        self.seconds = seconds
        self.log = log
    }

    /// Such as LINK-11/tester-lower, with the repetition if there are several.
    package var name: String {
        "\(subject.id)/\(order.rawValue)" + (repetition > 0 ? "#\(repetition + 1)" : "")
    }
}

/// Runs a plan, several cases at a time, each on a thread of its own.
package struct TestRunner: Sendable {
    let plan: TestPlan

    package init(_ plan: TestPlan) { self.plan = plan }

    private struct CaseTask: Sendable {
        let place: Int
        let subject: Case
        let order: UIDOrder
        let repetition: Int
    }

    /// The number of runs of cases in the plan.
    package var count: Int { plan.repetitions * plan.cases.reduce(0) { $0 + $1.orders.count } }

    /// Runs the whole plan; the closure receives each outcome as soon as it is known, on any thread.
    package func callAsFunction(tell: @escaping @Sendable (CaseOutcome) -> Void = { _ in }) -> [CaseOutcome] {
        var tasks: [CaseTask] = []
        for repetition in plan.firstRepetition..<(plan.firstRepetition + plan.repetitions) {
            for subject in plan.cases {
                for order in subject.orders {
                    tasks.append(
                        CaseTask(place: tasks.count, subject: subject, order: order, repetition: repetition))
                }
            }
        }
        // Long cases start first, so that none is left at the end.
        tasks.sort { ($1.subject.seconds, $0.place) < ($0.subject.seconds, $1.place) }
        let outcomes = Parallel.map(tasks, jobs: plan.jobs, waits: { plan.runsAlongside($0.subject) }) {
            task in
            let outcome = attempt(task)
            tell(outcome)
            return (task.place, outcome)
        }
        return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Returns why no case can be run: the shim does not start, or does not speak its protocol; nil when it answers.
    ///
    /// A request without a meaning is asked, which every shim answers.
    package func shimFault(within duration: Duration = .seconds(10)) -> String? {
        let name = "shim"
        let caseRun = CaseRun(.testerLower, shim: plan.shim, random: SplitMix64(seed: plan.seed, name: name))
        defer { caseRun.quit() }
        do {
            let subject = try caseRun.subject()
            return subject.faultOfProtocol(within: duration)
        } catch {
            return "\(error)"
        }
    }

    private func attempt(_ task: CaseTask) -> CaseOutcome {
        guard let network = task.subject.network, reasonToSkip(task.subject) == nil else {
            return attempt(task, skipping: nil)
        }
        return network.run { attempt(task, skipping: $0) }
    }

    /// * `skipping`: why it cannot be run.
    private func attempt(_ task: CaseTask, skipping reason: String?) -> CaseOutcome {
        let start = ContinuousClock.now
        let name = "\(task.subject.id)/\(task.order.rawValue)#\(task.repetition)"
        let caseRun = CaseRun(task.order, shim: plan.shim, random: SplitMix64(seed: plan.seed, name: name))
        let (verdict, reason, isOfProcess) =
            (reasonToSkip(task.subject) ?? reason).map { (.skip, $0, false) } ?? judge(task.subject, caseRun)
        caseRun.log.add(.verdict, reason.isEmpty ? verdict.rawValue : "\(verdict.rawValue): \(reason)")
        caseRun.loop.limit = nil
        caseRun.quit()
        return CaseOutcome(
            subject: task.subject, order: task.order, repetition: task.repetition, verdict: verdict,
            reason: reason, isOfProcess: isOfProcess, seconds: (ContinuousClock.now - start) / .seconds(1),
            log: caseRun.log.lines)
    }

    private func reasonToSkip(_ subject: Case) -> String? {
        if let reason = plan.skips[subject.id] { return reason }
        guard plan.isOutside, !OutsideCases.judged.contains(subject.id) else { return nil }
        return OutsideCases.reason
    }

    /// Runs the case between two exchanges that must work, and compares what the subject holds before and after.
    private func judge(_ subject: Case, _ caseRun: CaseRun) -> (CaseVerdict, String, Bool) {
        var stage = "before the case: "
        var check = SanityCheck(caseRun)
        let outside = OutsideCheck(caseRun: caseRun)
        var isSettled = !plan.isOutside
        defer { if !isSettled { outside.settle() } }
        do {
            if plan.isExchangeMade, !plan.isOutside { try check.prepare() }
            caseRun.loop.limit = .now + .seconds(plan.timeout ?? subject.seconds)
            caseRun.log.add(.stage, "\(subject.id): \(subject.title)")
            stage = ""
            try subject.body(caseRun)
            caseRun.loop.limit = nil
            stage = "after the case: "
            if plan.isOutside {
                isSettled = true
                outside.settle()
                try outside.examine()
            } else if plan.isExchangeMade {
                try check.examine()
            }
        } catch let skip as Skip {
            return (.skip, "\(skip)", false)
        } catch let fault as SuiteFault {
            return (.fault, stage + "\(fault)", false)
        } catch {
            let isLate = caseRun.loop.isLimitReached
            let reason = stage + "\(error)" + (isLate ? " (the case timed out)" : "")
            return (.fail, reason, (error as? CaseFailure)?.isOfProcess ?? false)
        }
        guard caseRun.weaknesses.isEmpty else {
            return (plan.isStrict ? .fail : .weak, caseRun.weaknesses.joined(separator: "; "), false)
        }
        return (.pass, "", false)
    }
}
