/// Deficit round-robin on a link: messages, then streams, then resources, each up to its part of a cycle, so that none
/// starves. Spec 9.7. [channel.priority] [channel.starve]
///
/// A part that is not used is not saved up; one that was exceeded, because a frame is not cut for it, is made up for
/// in the next cycle.
struct DeficitRoundRobin: Sendable {
    enum TrafficClass: Int, CaseIterable, Sendable {
        case messages, streams, resources

        /// Bytes of one cycle.
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

    /// What is left for messages in this cycle.
    var leftForMessages: Int { messages }

    /// The first that has something to write and has not had its part; a new cycle begins when all have.
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
