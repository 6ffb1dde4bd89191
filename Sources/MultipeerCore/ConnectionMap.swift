/// Values by the number of their connection, in the order of the numbers.
///
/// Not a dictionary: there are few connections, each step of a message looks its own up, and numbers grow, so that a new one is
/// appended. A hash costs several times as much as the comparisons, and its order would differ in each process.
@usableFromInline
package struct ConnectionMap<Value> {
    /// Strictly ascending; as many as values.
    @usableFromInline var ids: [ConnectionID] = []
    @usableFromInline var stored: [Value] = []

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { stored.isEmpty }
    /// In ascending order.
    @inlinable package var keys: [ConnectionID] { ids }
    /// In the order of their keys.
    @inlinable package var values: [Value] { stored }

    @inlinable
    package subscript(id: ConnectionID) -> Value? {
        get {
            let index = place(of: id)
            return index < ids.count && ids[index].rawValue == id.rawValue ? stored[index] : nil
        }
        set {
            guard let newValue else {
                _ = removeValue(forKey: id)
                return
            }
            let index = place(of: id)
            if index < ids.count, ids[index].rawValue == id.rawValue {
                stored[index] = newValue
            } else {
                ids.insert(id, at: index)
                stored.insert(newValue, at: index)
            }
        }
    }

    @inlinable
    package mutating func removeValue(forKey id: ConnectionID) -> Value? {
        let index = place(of: id)
        guard index < ids.count, ids[index].rawValue == id.rawValue else { return nil }
        ids.remove(at: index)
        return stored.remove(at: index)
    }

    /// Returns the index of the first key that is not less than `id`.
    @inlinable
    func place(of id: ConnectionID) -> Int {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle].rawValue < id.rawValue { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ConnectionMap: Sendable where Value: Sendable {}
