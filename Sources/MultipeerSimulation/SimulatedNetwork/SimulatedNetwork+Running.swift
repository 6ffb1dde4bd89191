import MultipeerCore
import MultipeerTransport

extension SimulatedNetwork {
    /// How far a run may go: one that exceeds a limit is stopped, and its failure names what it waits for.
    public struct Limits: Sendable {
        /// Virtual time; default one hour.
        public var duration: Duration
        /// Parts of tasks, turns of loops and planned events; default 10,000,000. A loop that never waits counts as none of
        /// these.
        public var steps: Int

        /// Creates limits.
        public init(duration: Duration = .seconds(3_600), steps: Int = 10_000_000) {
            (self.duration, self.steps) = (duration, steps)
        }
    }

    /// Runs `body` on the network's thread, and everything that follows from it. A network can run only once.
    ///
    /// When the body has returned, the tasks that were started with `task` are cancelled and waited for. What is created
    /// inside the run belongs to it: using that from other tasks makes the run fail.
    ///
    /// Throws what the body throws, and a `Failure` when the run was stopped.
    public func run<Value: Sendable>(
        within limits: Limits = Limits(),
        _ body: @escaping @Sendable (SimulatedNetwork) async throws -> Value
    ) async throws -> Value {
        let outcome = Locked<Result<Value, any Error>?>(nil)
        let stopped = Locked<(at: Duration, waiting: [String])>((.zero, []))
        let stopReason = try await machines.time.run(
            within: VirtualTime.Limits(duration: limits.duration, steps: limits.steps),
            onStop: {
                let names = (outcome.withLock { $0 == nil } ? ["the body of the run"] : []) + self.tasks.names
                stopped.withLock { $0 = (self.elapsed, names) }
            }
        ) { [tasks] in
            let result: Result<Value, any Error>
            do { result = .success(try await body(self)) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            await tasks.finish()
        }
        if let stopReason {
            let (moment, waiting) = stopped.withLock { $0 }
            throw Failure(Failure.Reason(stopReason), seed: seed, elapsed: moment, waiting: waiting)
        }
        guard let result = outcome.withLock({ $0 }) else {
            preconditionFailure("a run ended before its body")
        }
        return try result.get()
    }

    /// Starts a task on the network's thread; unlike with `Task { }`, its every step is part of the run. It is cancelled
    /// when the body of the run has returned.
    @discardableResult
    public func task<Value: Sendable>(
        file: String = #fileID, line: Int = #line, _ body: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        tasks.begin("\(file):\(line)", on: machines.time, body)
    }

    /// The reason why a run failed.
    public struct Failure: Error, Sendable {
        /// What kind of failure it was.
        public enum Reason: Hashable, Sendable {
            /// Nothing can run and nothing is planned: what waits, waits for something outside the network, or for
            /// something that never comes.
            case stuck
            /// More virtual time has passed than the limits allow.
            case outOfTime
            /// There were more steps than the limits allow.
            case outOfSteps
            /// Another thread, of that name, made something run: a real clock, another executor, or a task that is not the
            /// network's.
            case wokenFromOutside(thread: String)
            /// The task that called `run` was cancelled.
            case cancelled
            /// The network has run before: it can run only once.
            case ranBefore
        }

        /// What kind of failure it was.
        public let reason: Reason
        /// The seed of the network.
        public let seed: UInt64
        /// When it happened, in virtual time.
        public let elapsed: Duration
        /// What had not returned: the body, and tasks by the places where they were started.
        public let waiting: [String]

        init(_ reason: Reason, seed: UInt64, elapsed: Duration, waiting: [String]) {
            (self.reason, self.seed, self.elapsed, self.waiting) = (reason, seed, elapsed, waiting)
        }
    }
}

extension SimulatedNetwork.Failure: CustomStringConvertible {
    /// The seed, the time, what happened and what had not returned, on one line.
    public var description: String {
        let place = "seed \(seed), after \(elapsed) of virtual time: \(reason)"
        return waiting.isEmpty ? place : "\(place); not returned: \(waiting.joined(separator: ", "))"
    }
}

extension SimulatedNetwork.Failure.Reason: CustomStringConvertible {
    /// A description in lower case.
    public var description: String {
        switch self {
        case .stuck: "nothing can run and nothing is planned"
        case .outOfTime: "the limit of virtual time is reached"
        case .outOfSteps: "the limit of steps is reached"
        case .wokenFromOutside(let thread):
            "the thread '\(thread)' enqueued a job here: a real clock, another executor, or a task that is not of "
                + "the network"
        case .cancelled: "the task that runs it was cancelled"
        case .ranBefore: "a network runs once"
        }
    }

    init(_ stopReason: VirtualTime.StopReason) {
        self =
            switch stopReason {
            case .stuck: .stuck
            case .outOfTime: .outOfTime
            case .outOfSteps: .outOfSteps
            case .wokenFromOutside(let thread): .wokenFromOutside(thread: thread)
            case .cancelled: .cancelled
            case .ranBefore: .ranBefore
            }
    }
}
