/// Values by their keys, in the order of insertion. Every operation takes constant time on average, except those that
/// visit all values.
package struct OrderedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var entries: [Key: (serial: UInt64, value: Value)] = [:]
    /// In order, from `first` on. Removed keys stay in the array for a while: their serial differs from that of the
    /// entry.
    private var order: [(serial: UInt64, key: Key)] = []
    private var first = 0
    private var lastSerial: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    package subscript(key: Key) -> Value? { entries[key]?.value }

    /// Appends the value. Returns false, without a change, when the key is present.
    @discardableResult
    package mutating func append(_ key: Key, _ value: Value) -> Bool {
        if entries[key] != nil { return false }
        // At most as many removed keys as present ones, so that each key is moved only a few times.
        if order.count > 64, order.count > 2 * entries.count {
            order = order[first...].filter { entries[$0.key]?.serial == $0.serial }
            first = 0
        }
        lastSerial += 1
        entries[key] = (lastSerial, value)
        order.append((lastSerial, key))
        return true
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? { entries.removeValue(forKey: key)?.value }

    package mutating func removeFirst() -> (key: Key, value: Value)? {
        guard let head = head() else { return nil }
        entries[head.key] = nil
        return head
    }

    /// Returns the oldest entry.
    package mutating func head() -> (key: Key, value: Value)? {
        while first < order.count {
            let (serial, key) = order[first]
            if let entry = entries[key], entry.serial == serial { return (key, entry.value) }
            first += 1
        }
        order.removeAll(keepingCapacity: true)
        first = 0
        return nil
    }

    /// The keys in order.
    package var keys: [Key] {
        order[first...].compactMap { entries[$0.key]?.serial == $0.serial ? $0.key : nil }
    }

    /// Removes all values, and returns them in order.
    package mutating func removeAll() -> [Value] {
        defer { (entries, order, first) = ([:], [], 0) }
        return keys.compactMap { entries[$0]?.value }
    }
}
