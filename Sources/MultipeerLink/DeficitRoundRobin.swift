/// Deficit round-robin on a link: messages, then streams, then resources, each up to its part of a cycle, so that none
/// starves. Spec 9.7. [channel.priority] [channel.starvation]
///
/// An unused part is not carried over; a deficit, which occurs because frames are not split to fit, is deducted in the
/// next cycle.
struct DeficitRoundRobin: Sendable {
    enum TrafficClass: Int, CaseIterable, Sendable {
        case messages, streams, resources

        /// The number of bytes in one cycle.
        var quantum: Int {
            switch self {
            case .messages: 131_072
            case .streams: 65_536
            case .resources: 16_384
            }
        }
    }

    private var messages = TrafficClass.messages.quantum
    private var streams = TrafficClass.streams.quantum
    private var resources = TrafficClass.resources.quantum

    /// The number of bytes left for messages in this cycle.
    var leftForMessages: Int { messages }

    /// Returns the first class that can write and has part of its quantum left; a new cycle begins when none has.
    mutating func next(messages hasMessages: Bool, streams hasStreams: Bool, resources hasResources: Bool)
        -> TrafficClass?
    {
        guard hasMessages || hasStreams || hasResources else { return nil }
        while true {
            if hasMessages, messages > 0 { return .messages }
            if hasStreams, streams > 0 { return .streams }
            if hasResources, resources > 0 { return .resources }
            beginCycle()
        }
    }

    mutating func spend(_ bytes: Int, on share: TrafficClass) {
        switch share {
        case .messages: messages -= bytes
        case .streams: streams -= bytes
        case .resources: resources -= bytes
        }
    }

    private mutating func beginCycle() {
        messages = min(messages, 0) + TrafficClass.messages.quantum
        streams = min(streams, 0) + TrafficClass.streams.quantum
        resources = min(resources, 0) + TrafficClass.resources.quantum
    }
}
