/// One end of an invitation that the tester plays: frames over TLS with the ALPN of invitations. Spec 12.
final class TesterInvitation {
    let caseRun: CaseRun
    let tester: Tester
    let link: TesterLink
    let id: [UInt8]
    /// The ID of the INVITE that this end has received.
    var received: [UInt8] = []

    /// Dials an advertiser.
    convenience init(
        _ tester: Tester, port: UInt16, alpn: String = InvitationFrames.alpn, from source: [UInt8]? = nil
    ) throws {
        try self.init(tester, at: .loopback(port), alpn: alpn, from: source)
    }

    init(
        _ tester: Tester, at candidate: Candidate, alpn: String = InvitationFrames.alpn,
        from source: [UInt8]? = nil
    ) throws {
        caseRun = tester.caseRun
        self.tester = tester
        id = caseRun.random.bytes(16)
        let socket = try TCPSocket.dialling(candidate, from: source)
        link = TesterLink(
            socket, .initiator, try TLSEnd(try TesterInvitation.setup(tester, isServer: false, alpn)),
            try TesterInvitation.linkParameters(tester), in: caseRun)
    }

    /// Takes the next connection of an inviter.
    init(accepting tester: Tester, within duration: Duration = .seconds(10)) throws {
        caseRun = tester.caseRun
        self.tester = tester
        id = []
        let setup = try TesterInvitation.setup(tester, isServer: true, InvitationFrames.alpn)
        guard
            let link = try tester.accept(
                try TesterInvitation.linkParameters(tester), within: duration, tls: setup)
        else {
            throw CaseFailure("the inviter does not dial within \(duration)")
        }
        self.link = link
    }

    private static func setup(
        _ tester: Tester, isServer: Bool, _ alpn: String
    ) throws -> TLSEnd.Setup {
        let identity = try tester.invitationIdentity ?? TLSIdentity()
        return TLSEnd.Setup(isServer: isServer, identity: identity, protocols: [alpn])
    }

    /// Returns link parameters that are not used.
    private static func linkParameters(_ tester: Tester) throws -> LinkParameters {
        let data = tester.data(for: nil)
        return LinkParameters(
            mine: data.bytes, myToken: data.token, theirs: [], theirData: data, me: tester.endpoint)
    }

    /// Waits for TLS; the end that answers has shown some certificate.
    func expectReady() throws {
        caseRun.loop.wait(.seconds(10)) { link.connection.isReady || link.ending != nil }
        try caseRun.require(
            link.connection.isReady, "\(link.name): no TLS: \(link.ending.map { "\($0)" } ?? "too slow")")
        try caseRun.require(link.connection.tls?.peerLeaf != nil, "\(link.name): no certificate")
    }

    // MARK: Inviter

    /// Sends INVITE, with the tester's own uid or another one.
    func invite(
        _ recipient: [UInt8], as uid: [UInt8]? = nil, timeout: UInt32 = 30, context: [UInt8]? = nil
    ) throws {
        try expectReady()
        let entries = InvitationFrames.invite(
            id: id, from: uid ?? tester.endpoint.uid, name: Array(tester.name.utf8), to: recipient,
            timeout: timeout,
            context: context)
        link.send(Frame(.invite, entries.bytes))
    }

    /// Waits for the ANSWER, and returns it and the data in it.
    @discardableResult
    func expectAnswer(_ codes: CloseCode..., within duration: Duration = .seconds(10)) throws -> [UInt8]? {
        let frame = try link.expect(.answer, within: duration)
        let entries: [TLVEntry]
        do throws(Malformed) {
            entries = try [TLVEntry].read(frame.payload, known: [1, 2, 3])
            let echoed = try entries.required(InvitationFrames.Field.id, "ID", 16)
            guard echoed == id else { throw Malformed("ANSWER to another invitation") }
            let number = try entries.required(InvitationFrames.Field.code, "CODE", 2)
            let code = CloseCode(rawValue: UInt16(number[0]) << 8 | UInt16(number[1]))
            guard codes.contains(code) else { throw Malformed("ANSWER(\(code)), not \(codes.words)") }
            guard (entries.first(InvitationFrames.Field.data) != nil) == (code == .ok) else {
                throw Malformed("DATA does not fit \(code)")
            }
        } catch { throw CaseFailure("\(link.name): ANSWER: \(error)") }
        return entries.first(InvitationFrames.Field.data)
    }

    /// Sends COMPLETE with data of the tester for this peer, and returns the data.
    @discardableResult
    func complete(_ recipient: [UInt8], _ change: (inout ConnectionData) -> Void = { _ in }) -> ConnectionData
    {
        var data = tester.data(for: recipient)
        change(&data)
        link.send(Frame(.complete, InvitationFrames.complete(id: id, data: data.bytes).bytes))
        return data
    }

    // MARK: Invitee

    /// Waits for the INVITE of the subject, and returns its entries.
    func expectInvite(within duration: Duration = .seconds(10)) throws -> [TLVEntry] {
        let frame = try link.expect(.invite, within: duration)
        do throws(Malformed) {
            let entries = try [TLVEntry].read(frame.payload, known: [1, 2, 3, 4, 5])
            _ = try entries.required(InvitationFrames.Field.id, "ID", 16)
            _ = try entries.required(InvitationFrames.Field.recipient, "RECIPIENT", 16)
            _ = try entries.required(InvitationFrames.Field.timeout, "TIMEOUT", 4)
            let inviter = try entries.required(InvitationFrames.Field.inviter, "INVITER")
            guard (17...79).contains(inviter.count) else {
                throw Malformed("INVITER of \(inviter.count) bytes")
            }
            return entries
        } catch { throw CaseFailure("\(link.name): INVITE: \(error)") }
    }

    func answer(_ id: [UInt8], _ code: CloseCode, data: [UInt8]? = nil) {
        link.send(Frame(.answer, InvitationFrames.answer(id: id, code, data: data).bytes))
    }

    func expectComplete() throws -> [UInt8] {
        let frame = try link.expect(.complete)
        do throws(Malformed) {
            let entries = try [TLVEntry].read(frame.payload, known: [1, 3])
            return try entries.required(InvitationFrames.Field.data, "DATA")
        } catch { throw CaseFailure("\(link.name): COMPLETE: \(error)") }
    }
}
