import MultipeerCore

/// The clients of a loop, their deadlines, and those that were called in this turn.
///
/// Deadlines are found by a walk over the clients: a loop serves a handful of them.
struct ClientRegistry {
    /// One client, known as long as it watches a descriptor, waits for a deadline, or has its turn to end.
    final class Entry {
        let client: any LoopClient
        /// Of two whose deadlines are the same, the older one is called first: in virtual time that happens.
        fileprivate let number: UInt64
        fileprivate(set) var deadline = Moment.distantFuture
        fileprivate var registrations = 0
        fileprivate var isTouched = false

        fileprivate init(_ client: any LoopClient, _ number: UInt64) {
            self.client = client
            self.number = number
        }
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The one that was found last; usually the next one, too.
    private var last: Entry?
    private var touched: [Entry] = []
    private var entered: UInt64 = 0
    private var earliest: Moment? = .distantFuture

    /// Whether a client's turn has to be ended.
    var hasTouched: Bool { !touched.isEmpty }

    mutating func addRegistration(of client: any LoopClient) -> Entry {
        let entry = entry(of: client)
        entry.registrations += 1
        return entry
    }

    mutating func removeRegistration(of entry: Entry) {
        entry.registrations -= 1
        forgetIfIdle(entry)
    }

    mutating func touch(_ client: any LoopClient) { touch(entry(of: client)) }

    mutating func touch(_ entry: Entry) {
        if entry.isTouched { return }
        entry.isTouched = true
        touched.append(entry)
    }

    /// Swaps the touched entries with the emptied list of the last time. Each is forgotten if nothing else keeps it.
    mutating func takeTouched(_ list: inout [Entry]) {
        swap(&touched, &list)
        for entry in list {
            entry.isTouched = false
            forgetIfIdle(entry)
        }
    }

    mutating func setDeadline(of client: any LoopClient, _ deadline: Moment) {
        if deadline == .distantFuture && entries[ObjectIdentifier(client)] == nil { return }
        let entry = entry(of: client)
        if let known = earliest {
            earliest = deadline <= known ? deadline : entry.deadline == known ? nil : known
        }
        entry.deadline = deadline
        forgetIfIdle(entry)
    }

    mutating func earliestDeadline() -> Moment {
        if let earliest { return earliest }
        let found = entries.values.reduce(Moment.distantFuture) { min($0, $1.deadline) }
        earliest = found
        return found
    }

    /// Returns the entries whose deadline has come, the oldest first.
    mutating func due(at now: Moment) -> [Entry] {
        if earliestDeadline() > now { return [] }
        return entries.values.filter { $0.deadline <= now }.sorted {
            ($0.deadline, $0.number) < ($1.deadline, $1.number)
        }
    }

    /// Returns whether the deadline still stands, and clears it.
    mutating func expire(_ entry: Entry, at now: Moment) -> Bool {
        if entry.deadline > now { return false }
        entry.deadline = .distantFuture
        earliest = nil
        return true
    }

    private mutating func entry(of client: any LoopClient) -> Entry {
        if let last, last.client === client { return last }
        if let entry = entries[ObjectIdentifier(client)] {
            last = entry
            return entry
        }
        entered &+= 1
        let entry = Entry(client, entered)
        entries[ObjectIdentifier(client)] = entry
        return entry
    }

    private mutating func forgetIfIdle(_ entry: Entry) {
        guard entry.registrations == 0, entry.deadline == .distantFuture, !entry.isTouched else { return }
        entries[ObjectIdentifier(entry.client)] = nil
        if last === entry { last = nil }
    }
}
