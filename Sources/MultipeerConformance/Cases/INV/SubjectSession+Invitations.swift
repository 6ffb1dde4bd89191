/// Requests and expected events of a session for invitations.
extension SubjectSession {
    /// Waits for the next question to the application, and returns its event.
    func question(from uid: [UInt8], within duration: Duration = .seconds(10)) throws -> JSONValue {
        guard let event = event("invitation", from: uid, within: duration) else {
            throw CaseFailure("the application is not asked within \(duration)")
        }
        return event
    }

    /// Answers a question for the application.
    func answer(_ question: JSONValue, _ isAccepted: Bool) throws -> JSONValue {
        try ask("answer", ["invitation": question["invitation"] ?? .null, "accept": .bool(isAccepted)])
    }

    /// Lets the session invite the tester; `isNamed`: by its uid, otherwise the peer at its address; `others`: testers at whose
    /// addresses it may be, too.
    func invite(
        _ tester: Tester, code: String? = nil, context: [UInt8]? = nil, timeout: Int = 30,
        isNamed: Bool = true, after others: [Tester] = []
    ) throws -> JSONValue {
        var parameters: [String: JSONValue] = [
            "at": .array((others + [tester]).map { .string("127.0.0.1:\($0.listener.localPort)") }),
            "timeout": .number(Double(timeout)),
        ]
        if isNamed { parameters["peer"] = .string(tester.endpoint.uid.hex) }
        parameters["context"] = context.map { .string($0.hex) }
        parameters["code"] = code.map { .string($0) }
        return try ask("invite", parameters)
    }

    /// Makes the link that an invitation leads to, with the data that its two ends exchanged.
    ///
    /// The link and the invitation are connections of their own: a dial may reach the subject before the last frame of
    /// the invitation, so the tester waits until the subject is connecting.
    func meet(_ tester: Tester, mine: ConnectionData, theirs: [UInt8]) throws -> TesterLink {
        let theirData: ConnectionData
        do throws(Malformed) { theirData = try ConnectionData(theirs) } catch {
            throw CaseFailure("the data of an invitation: \(error)")
        }
        let peer = tester.endpoint.uid
        guard theirData.endpoint.uid == uid else { throw CaseFailure("the data of another peer") }
        guard theirData.recipient == nil || theirData.recipient == peer else {
            throw CaseFailure("data for another peer")
        }
        let linkParameters = LinkParameters(
            mine: mine.bytes, myToken: mine.token, theirs: theirs, theirData: theirData, me: tester.endpoint)
        try expect("connecting", of: peer)
        let link = try tester.link(linkParameters)
        try expect("connected", of: peer)
        return link
    }

    /// Waits for the result of an invitation of the session.
    func expectInviteResult(
        _ codes: [CloseCode], of uid: [UInt8], within duration: Duration = .seconds(10)
    ) throws {
        guard let event = event("invite-result", from: uid, within: duration) else {
            throw CaseFailure("the inviter is not notified within \(duration)")
        }
        let code = event["result"]?.text.flatMap(CloseCode.init(named:))
        guard let code, codes.contains(code) else {
            throw CaseFailure(
                "the inviter is notified of \(event["result"]?.text ?? "nothing"), not \(codes.words)")
        }
    }
}

extension CaseRun {
    /// Creates a session that takes invitations, with a one-time code if there is one, and returns its port, too.
    func advertiser(
        _ settings: SubjectSession.Settings = .init(preference: .required), code: String? = nil
    ) throws -> (SubjectSession, UInt16) {
        let session = try session(settings)
        var parameters: [String: JSONValue] = ["type": "conform", "discovery": "none"]
        parameters["code"] = code.map { .string($0) }
        let answer = try session.call("advertise", parameters)
        guard let port = answer["port"]?.int.flatMap(UInt16.init(exactly:)) else {
            throw Skip("the shim does not state its port for invitations")
        }
        return (session, port)
    }
}
