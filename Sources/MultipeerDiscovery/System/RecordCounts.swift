/// The records of one name and type that the system's responder reported and has not taken back, on each interface.
///
/// Avahi reports a record once for each address family in which it was received, and its compatibility library does not say
/// which: there, repetitions count, and a record is gone when it was taken back as often. Elsewhere they change nothing.
struct RecordCounts: Sendable {
    /// The maximum number of records: of more, the oldest is dropped.
    static let most = 16

    struct Entry: Equatable, Sendable {
        let interface: UInt32
        let data: [UInt8]
        fileprivate(set) var count: Int
        /// Larger for one that became known later.
        let order: UInt64
    }

    private let countsRepeats: Bool
    /// In the order in which they became known.
    private(set) var entries: [Entry] = []
    /// Whether one was dropped that the responder may still have.
    private var hasDropped = false

    init(countsRepeats: Bool) { self.countsRepeats = countsRepeats }

    var isEmpty: Bool { entries.isEmpty }

    /// Returns whether the set has changed.
    mutating func add(_ data: [UInt8], on interface: UInt32, order: UInt64) -> Bool {
        if let place = place(of: data, on: interface) {
            if countsRepeats { entries[place].count += 1 }
            return false
        }
        if entries.count == RecordCounts.most {
            entries.removeFirst()
            hasDropped = true
        }
        entries.append(Entry(interface: interface, data: data, count: 1, order: order))
        return true
    }

    /// Returns whether the set has changed.
    mutating func remove(_ data: [UInt8], on interface: UInt32) -> Bool {
        guard let place = place(of: data, on: interface) else { return false }
        entries[place].count -= 1
        if entries[place].count > 0 { return false }
        entries.remove(at: place)
        return true
    }

    mutating func removeAll(where condition: (Entry) -> Bool) { entries.removeAll(where: condition) }

    /// Forgets all, as a new query reports all again.
    mutating func forget() {
        entries = []
        hasDropped = false
    }

    /// Returns true once, when nothing is left of more records than it can hold: another query reports those that were dropped.
    mutating func takeIsIncomplete() -> Bool {
        guard hasDropped, entries.isEmpty else { return false }
        hasDropped = false
        return true
    }

    func entries(on interface: UInt32) -> [Entry] { entries.filter { $0.interface == interface } }

    private func place(of data: [UInt8], on interface: UInt32) -> Int? {
        entries.firstIndex { $0.interface == interface && $0.data == data }
    }
}
