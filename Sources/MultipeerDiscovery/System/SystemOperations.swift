import MultipeerCore

/// The operations that the system's responder carries out for us, each for one use, and the uses that wait for another try.
///
/// ```
///   (unused) ──start──▶ running ──failed──▶ waiting ──due──▶ (taken by the owner, who starts it again)
///       ▲                  │                   │
///       └───────end────────┴────────end────────┘
/// ```
struct SystemOperations: Sendable {
    typealias Use = SystemDNS.Use

    private var running: [Use: SystemDNS.OperationID] = [:]
    private var uses: [SystemDNS.OperationID: Use] = [:]
    /// In the order in which they began to wait.
    private var waiting: [(use: Use, until: Moment)] = []
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { running.isEmpty && waiting.isEmpty }

    /// When the first use that waits is due.
    var deadline: Moment? { waiting.map(\.until).min() }

    /// Returns nil for an operation that has ended.
    func use(of id: SystemDNS.OperationID) -> Use? { uses[id] }

    func operation(for use: Use) -> SystemDNS.OperationID? { running[use] }

    func isRunning(where condition: (Use) -> Bool) -> Bool { running.keys.contains(where: condition) }

    /// Begins an operation for a use that has none.
    mutating func start(_ use: Use) -> SystemDNS.OperationID {
        precondition(running[use] == nil, "a use has one operation")
        waiting.removeAll { $0.use == use }
        lastNumber += 1
        let id = SystemDNS.OperationID(lastNumber)
        running[use] = id
        uses[id] = use
        return id
    }

    /// Ends a use, and returns its operation if it has one.
    mutating func end(_ use: Use) -> SystemDNS.OperationID? {
        waiting.removeAll { $0.use == use }
        guard let id = running.removeValue(forKey: use) else { return nil }
        uses[id] = nil
        return id
    }

    /// Ends the operation of a use, which waits for the next.
    mutating func wait(_ use: Use, until: Moment) -> SystemDNS.OperationID? {
        let id = end(use)
        waiting.append((use, until))
        return id
    }

    /// Returns the uses whose wait is over.
    mutating func takeDue(at now: Moment) -> [Use] {
        let due = waiting.filter { $0.until <= now }.map(\.use)
        waiting.removeAll { $0.until <= now }
        return due
    }
}
