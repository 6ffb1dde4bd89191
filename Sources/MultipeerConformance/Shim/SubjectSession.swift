/// One session of the subject.
final class SubjectSession {
    let subject: Subject
    let handle: String
    let uid: [UInt8]
    let preference: Preference
    /// Nil if the application can be controlled and observed.
    let outside: OutsidePeer?

    /// The settings of a session, besides its name.
    struct Settings {
        var preference = Preference.none
        var uid: [UInt8]?
        /// accept, reject or hang; nil: the application is not asked.
        var trust: String?
        /// A PEM file with key and certificates.
        var identity: String?
        /// maxMessage, messageCredit, channels, channelCredit, peers.
        var limits: [String: Int] = [:]
        /// A folder for resources.
        var receiving: String?
        /// The address and port at which it listens, instead of one of 127.0.0.1.
        var listen: String?
        /// Whether what arrived of a resource stays when its link ends.
        var resumes = false
    }

    init(_ handle: String, _ settings: Settings, of subject: Subject) throws {
        self.subject = subject
        self.handle = handle
        var parameters: [String: JSONValue] = [
            "name": .string(handle), "preference": .string(settings.preference.word),
        ]
        parameters["uid"] = settings.uid.map { .string($0.hex) }
        parameters["trust"] = settings.trust.map { .string($0) }
        parameters["identity"] = settings.identity.map { .string($0) }
        parameters["receiving"] = settings.receiving.map { .string($0) }
        parameters["listen"] = settings.listen.map { .string($0) }
        if settings.resumes { parameters["resumes"] = .bool(true) }
        if !settings.limits.isEmpty {
            parameters["limits"] = .object(settings.limits.mapValues { .number(Double($0)) })
        }
        let answer = try subject.call("session", parameters)
        guard let uid = answer["uid"]?.text.flatMap({ [UInt8](hex: $0) }), uid.count == 16 else {
            throw CaseFailure("'session' returns no uid")
        }
        self.uid = uid
        outside = answer["outside"]?.text.flatMap { OutsidePeer($0) }
        preference = outside?.preference ?? settings.preference
    }

    /// Sends a request about this session; an error is an answer like any other.
    func ask(_ op: String, _ parameters: [String: JSONValue] = [:], within duration: Duration = .seconds(15))
        throws
        -> JSONValue
    {
        try subject.ask(op, addressed(parameters), within: duration)
    }

    /// Sends a request that must succeed.
    @discardableResult
    func call(_ op: String, _ parameters: [String: JSONValue] = [:], within duration: Duration = .seconds(15))
        throws
        -> JSONValue
    {
        try subject.call(op, addressed(parameters), within: duration)
    }

    /// Sends a request, and does not wait for the answer.
    func post(_ op: String, _ parameters: [String: JSONValue] = [:]) -> Int {
        subject.post(op, addressed(parameters))
    }

    private func addressed(_ parameters: [String: JSONValue]) -> [String: JSONValue] {
        parameters.merging(["session": .string(handle)]) { $1 }
    }

    // MARK: Requests of cases

    /// Returns connection data for a peer; open data without one.
    func data(for peer: [UInt8]?, mesh: Bool = false, lifetime: Int? = nil) throws -> [UInt8] {
        var parameters: [String: JSONValue] = ["mesh": .bool(mesh)]
        parameters["peer"] = peer.map { .string($0.hex) }
        parameters["lifetime"] = lifetime.map { .number(Double($0)) }
        guard let bytes = try call("data", parameters)["data"]?.text.flatMap({ [UInt8](hex: $0) }) else {
            throw CaseFailure("'data' returns no data")
        }
        return bytes
    }

    func connect(_ data: [UInt8]) throws { try call("connect", ["data": .string(data.hex)]) }

    /// Returns the code with which the subject refuses data, at once or later; nil if it accepts it.
    func refusal(of data: [UInt8], from peer: [UInt8], within duration: Duration = .seconds(2)) throws
        -> CloseCode?
    {
        guard outside == nil else { throw Skip("the application's errors are not seen") }
        let answer = try ask("connect", ["data": .string(data.hex)])
        if let name = answer["error"]?.text { return CloseCode(named: name) ?? .internal }
        let event = subject.event(within: duration) {
            $0["event"]?.text == "state" && self.concerns($0, peer, "notConnected")
        }
        return event.map { $0["code"]?.text.flatMap(CloseCode.init(named:)) ?? .internal }
    }

    func send(_ bytes: [UInt8], to peers: [UInt8]..., mode: String = "reliable") throws {
        try call(
            "send",
            ["to": .array(peers.map { .string($0.hex) }), "mode": .string(mode), "hex": .string(bytes.hex)])
    }

    /// Sends `count` bytes of the agreed pattern, and does not wait until they are taken.
    func post(pattern count: Int, to peer: [UInt8]) -> Int {
        post("send", ["to": [.string(peer.hex)], "mode": "reliable", "size": .number(Double(count))])
    }

    // MARK: Events for cases

    private func isMine(_ event: JSONValue) -> Bool { event["session"]?.text == handle }

    private func concerns(_ event: JSONValue, _ peer: [UInt8], _ state: String) -> Bool {
        isMine(event) && event["event"]?.text == "state" && event["peer"]?.text == peer.hex
            && event["state"]?.text == state
    }

    /// Waits for the next event of this kind, about this peer if one is named.
    func event(_ kind: String, from peer: [UInt8]? = nil, within duration: Duration = .seconds(10))
        -> JSONValue?
    {
        subject.event(within: duration) { event in
            isMine(event) && event["event"]?.text == kind
                && (peer == nil || event["from"]?.text == peer?.hex || event["peer"]?.text == peer?.hex)
        }
    }

    /// Waits for the next change to this state; earlier changes of the same peer are skipped. Nothing is expected of an
    /// application that cannot be observed.
    @discardableResult
    func expect(_ state: String, of peer: [UInt8], within duration: Duration = .seconds(10)) throws
        -> JSONValue
    {
        guard outside == nil else { return .null }
        guard let event = subject.event(within: duration, where: { concerns($0, peer, state) }) else {
            throw CaseFailure("\(handle) does not report '\(state)' within \(duration)")
        }
        return event
    }

    /// Waits for the next notConnected, with one of these codes.
    @discardableResult
    func expectNotConnected(
        _ peer: [UInt8], _ codes: [CloseCode] = [], within duration: Duration = .seconds(10)
    ) throws -> JSONValue {
        let event = try expect("notConnected", of: peer, within: duration)
        guard !codes.isEmpty, outside == nil else { return event }
        let code = event["code"]?.text.flatMap(CloseCode.init(named:))
        guard let code, codes.contains(code) else {
            throw CaseFailure(
                "\(handle) reports notConnected with \(code?.description ?? "no code"), not \(codes.words)")
        }
        return event
    }

    /// Checks that no such state is reported.
    func expectNo(_ state: String, of peer: [UInt8], for duration: Duration) throws {
        if subject.event(within: duration, where: { concerns($0, peer, state) }) != nil {
            throw CaseFailure("\(handle) reports '\(state)'")
        }
    }

    /// Waits for the next message from this peer, which must be exactly this.
    func expectMessage(_ bytes: [UInt8], from peer: [UInt8], within duration: Duration = .seconds(10)) throws
    {
        guard outside == nil else { throw Skip("messages of the application are not seen") }
        guard let event = event("message", from: peer, within: duration) else {
            throw CaseFailure("no message of \(bytes.count) bytes is delivered within \(duration)")
        }
        guard event["size"]?.int == bytes.count, event["sha256"]?.text == CaseRun.digest(bytes) else {
            throw CaseFailure(
                "a message of \(event["size"]?.int ?? -1) bytes is delivered that is not what was sent")
        }
    }

    func expectNoMessage(from peer: [UInt8], for duration: Duration) throws {
        if event("message", from: peer, within: duration) != nil {
            throw CaseFailure("a message is delivered")
        }
    }

    /// Returns all unread states of a peer, in order.
    func states(of peer: [UInt8]) -> [String] {
        subject.events.filter { isMine($0) && $0["event"]?.text == "state" && $0["peer"]?.text == peer.hex }
            .compactMap { $0["state"]?.text }
    }
}
