import MultipeerCore
import MultipeerDiscovery

/// One engine, and what it has reported to its owner.
struct DNSEngineEnd {
    var engine: MulticastDNS
    var adverts: [AdvertID] = []
    var browses: [BrowseID: ReportedPeers] = [:]
    /// The resolves that have not ended, and when they must.
    var resolves: [ResolveID: Moment] = [:]
    /// The maximum packet length of each interface.
    var mtus: [UInt32: Int] = [:]
    private var told: [MulticastDNS.Action] = []

    init(_ engine: MulticastDNS) { self.engine = engine }

    /// Takes the engine's actions: checks what it reports, and returns the datagrams that it sends.
    mutating func takeDatagrams(at now: Moment) throws(BrokenPromise) -> [DNSDatagram] {
        var datagrams: [DNSDatagram] = []
        let actions = engine.takeActions()
        try promise(actions.count <= 2_048, "the number of actions at once is bounded")
        for action in actions {
            switch action {
            case .multicast(let bytes, let scope, let family):
                datagrams.append(try DNSDatagram(bytes, scope, .multicast, budget: budget(scope, family)))
            case .ask(let bytes, let scope, let family):
                datagrams.append(try DNSDatagram(bytes, scope, .ask, budget: budget(scope, family)))
            case .unicast(let bytes, let scope, let family, let address, let port):
                let way = OutgoingMessage.Destination.unicast(to: address, port: port)
                datagrams.append(try DNSDatagram(bytes, scope, way, budget: budget(scope, family)))
            case .browse(let id, let uid, let peer): try hear(peer, uid, of: id)
            case .resolved(let id, let resolution):
                try promise(resolves.removeValue(forKey: id) != nil, "a resolution ends once")
                try promise(resolution.candidates.count <= 32, "a peer has at most 32 addresses")
            case .duplicated(_, by: let addresses):
                try promise((1...32).contains(addresses.count), "another machine has a few addresses")
            case .registered, .renamed, .returned: break
            }
        }
        return datagrams
    }

    /// Returns the room in a packet after the IP and UDP headers.
    private func budget(_ scope: UInt32, _ family: Family) -> Int {
        min(max((mtus[scope] ?? 0) - (family == .v4 ? 28 : 48), 512), DNSMessage.longest)
    }

    private mutating func hear(
        _ peer: PresentPeer?, _ uid: UID, of id: BrowseID
    ) throws(BrokenPromise) {
        guard var browse = browses[id] else {
            throw BrokenPromise(description: "a stopped browser receives an event")
        }
        try browse.hear(peer, uid)
        browses[id] = browse
    }

    /// Checks the state after everything that was due at `now`.
    func check(at now: Moment) throws(BrokenPromise) {
        try promise(engine.deadline.map { $0 > now } ?? true, "the deadline advances")
        try promise(resolves.values.allSatisfy { $0 > now }, "a resolution ends in time")
        try promise(engine.recordCount <= 2 * 1_024, "an interface's cache has at most 1,024 records")
        try promise(engine.byteCount <= 1 << 20 + 2_048, "the caches have at most 1 MiB")
        try promise(engine.answerCount <= 2_048, "waiting and remembered answers are within their limits")
    }
}

/// A datagram that an engine sent: parsed, and of a valid form.
struct DNSDatagram {
    let bytes: [UInt8]
    let scope: UInt32
    let way: OutgoingMessage.Destination
    let message: DNSMessage

    init(_ bytes: [UInt8], _ scope: UInt32, _ way: OutgoingMessage.Destination, budget: Int)
        throws(BrokenPromise)
    {
        guard let message = try? DNSMessage(bytes.span) else {
            throw BrokenPromise(description: "an engine sends an invalid message")
        }
        self.bytes = bytes
        self.scope = scope
        self.way = way
        self.message = message
        let records = message.answers + message.authorities + message.additionals
        try promise(message.opcode == 0 && message.responseCode == 0, "opcode and response code are 0")
        try promise(message.recordCount > 0, "no message is empty")
        try promise(
            bytes.count <= budget || message.answers.count <= 1 || !message.authorities.isEmpty,
            "a message that does not fit a packet is split")
        if message.isResponse {
            try promise(
                message.isAuthoritative && !message.isTruncated, "an answer is authoritative and complete")
        } else {
            try promise(!records.contains(where: \.isCacheFlush), "questions do not have the flush bit")
            try promise(!message.questions.contains(where: \.wantsUnicast), "no question asks for unicast")
        }
        switch way {
        case .multicast:
            try promise(message.id == 0, "a multicast message has no id")
            try promise(
                !message.isResponse || message.questions.isEmpty, "a multicast answer repeats no question")
        case .ask:
            try promise(!message.isResponse && message.id != 0, "a question from an ephemeral port has an id")
        case .unicast(_, let port):
            try promise(message.isResponse, "only answers are sent by unicast")
            guard port != MulticastDNS.port else { return }
            try promise(
                !records.contains(where: \.isCacheFlush), "conventional resolvers receive no flush bit")
            try promise(records.allSatisfy { $0.ttl <= 10 }, "and no TTL above 10 s")
        }
    }
}
