/// What waits in a queue, by ticket: in order, except for what has left it before its turn.
///
/// Not a dictionary: hundreds of thousands of messages may be posted at once, and each enters and leaves it.
struct TicketQueue<Element> {
    /// Those before `head` are gone, as are the empty ones.
    private var storage: [Element?] = []
    private var head = 0
    /// The ticket of the first place.
    private var first: UInt64 = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// How many places it holds, with those that are empty.
    var places: Int { storage.count }

    /// In order.
    var elements: [Element] { storage[head...].compactMap { $0 } }

    /// Adds an element with the ticket after the last one.
    mutating func append(_ element: Element, ticket: UInt64) {
        if storage.isEmpty { first = ticket }
        precondition(ticket == first + UInt64(storage.count), "a ticket was left out")
        storage.append(element)
        count += 1
    }

    /// An element that is there can be changed, but not taken out.
    subscript(ticket: UInt64) -> Element? {
        get { index(ticket).flatMap { storage[$0] } }
        set {
            guard let index = index(ticket), let newValue, storage[index] != nil else { return }
            storage[index] = newValue
        }
    }

    @discardableResult
    mutating func remove(_ ticket: UInt64) -> Element? {
        guard let index = index(ticket), let element = storage[index].take() else { return nil }
        count -= 1
        trim()
        return element
    }

    private func index(_ ticket: UInt64) -> Int? {
        guard ticket >= first, ticket - first < UInt64(storage.count) else { return nil }
        return Int(ticket - first)
    }

    private mutating func trim() {
        if count == 0 {
            // Many may have waited: their memory is released.
            storage.removeAll(keepingCapacity: storage.capacity <= 1_024)
            head = 0
            return
        }
        while storage[head] == nil { head += 1 }
        // Moved once for as many removals: each costs the same in the long run.
        if head > 1_024, head > storage.count / 2 {
            storage.removeFirst(head)
            first += UInt64(head)
            head = 0
        }
    }
}
