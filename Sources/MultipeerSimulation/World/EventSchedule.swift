/// Future events, ordered by time and then by the order in which they were posted: a binary heap.
struct EventSchedule: Sendable {
    private struct Entry: Sendable {
        let moment: Int64
        let order: UInt64
        let event: SimulationEvent

        static func < (one: Entry, other: Entry) -> Bool {
            one.moment != other.moment ? one.moment < other.moment : one.order < other.order
        }
    }

    private var heap: [Entry] = []
    private var posted: UInt64 = 0

    /// The time of the next event.
    var next: Int64? { heap.first?.moment }

    mutating func post(_ event: SimulationEvent, at moment: Int64) {
        posted &+= 1
        let entry = Entry(moment: moment, order: posted, event: event)
        heap.append(entry)
        var place = heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry < heap[parent] else { break }
            heap[place] = heap[parent]
            place = parent
        }
        heap[place] = entry
    }

    mutating func pop() -> (moment: Int64, event: SimulationEvent)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty { sink(last) }
        return (first.moment, first.event)
    }

    private mutating func sink(_ entry: Entry) {
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < entry else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = entry
    }
}

/// An event in a simulated world. Numbers only: it is copied with the heap.
enum SimulationEvent: Sendable {
    /// The dialler's first packet is at its target for the n-th time.
    case dialArrived(connection: Int, attempt: Int)
    /// What is due at this end of a connection.
    case arrive(connection: Int, end: Int)
    /// The sender retransmits, after a pause, what has not been acknowledged on the way to this end since that moment.
    case retransmit(connection: Int, end: Int, since: Int64, pause: Int64)
    /// This end notices that its connection is gone.
    case lost(connection: Int, end: Int)
    /// Nothing that this end sent has been acknowledged since that moment.
    case unacknowledged(connection: Int, end: Int, since: Int64)
    /// A peer's deadline.
    case wake(node: Int, life: Int)
    case resume(node: Int, life: Int)
    /// An application hands its connection data to another one.
    case offer(from: Int, to: Int, ConnectionDataOptions)
    /// The application connects to the peer of the data with this number.
    case connect(node: Int, data: Int)
    /// An application invites a peer.
    case invite(from: Int, to: Int, Int, Scenario.Answer)
    /// The application answers the question with this number.
    case answer(node: Int, life: Int, question: UInt64)
    case step(Int)
    case chatter(node: Int, life: Int)
    /// The application takes what it left as a slow reader.
    case take(node: Int, life: Int)
    case heal(Int)
    case lie(node: Int, life: Int)
    case look
    /// A reader gets to a channel.
    case read(connection: Int, channel: Int, life: Int)
    /// An application decides whether the holder of this connection's key may be linked.
    case decide(node: Int, life: Int, connection: UInt32)
    /// An application does its part for a verification code.
    case agree(connection: Int, end: Int, life: Int)
    /// The UDP packet with this number is at its target.
    case datagram(Int)
}

/// What kind of connection data an application hands out.
struct ConnectionDataOptions: Sendable {
    let joinsMesh: Bool
    let isAddressed: Bool
}
