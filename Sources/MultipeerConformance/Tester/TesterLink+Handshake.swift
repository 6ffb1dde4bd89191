import MultipeerSecurity

/// Chapter 6, step by step. Any step can be made wrong: a closure changes what is sent.
extension TesterLink {
    /// Waits until TCP is connected, and TLS or both prefaces are done.
    func expectReady(within duration: Duration = .seconds(10)) throws {
        caseRun.loop.wait(duration) { connection.isReady || ending != nil }
        if let ending, !connection.isReady { throw CaseFailure("\(name): no connection: \(ending)") }
        guard connection.isReady else { throw CaseFailure("\(name): no connection within \(duration)") }
        guard let tls = connection.tls else { return }
        guard let leaf = tls.peerLeaf, SHA256.hash(leaf) == linkParameters.theirData.fingerprint else {
            throw CaseFailure("\(name): the certificate is not the one that the connection data pins")
        }
        guard tls.chosenProtocol == "mpc/1" else {
            throw CaseFailure("\(name): ALPN '\(tls.chosenProtocol)'")
        }
        caseRun.log.add(.note, "\(name): TLS with \(tls.suite ?? "?")")
    }

    /// Returns the HELLO that the tester should send.
    func properHello() -> Hello {
        Hello(
            sender: linkParameters.me, receiver: linkParameters.theirData.endpoint,
            myData: ConnectionData.reference(linkParameters.mine),
            yourData: ConnectionData.reference(linkParameters.theirs), nonce: caseRun.random.bytes(32),
            limits: linkParameters.limits,
            members: linkParameters.members)
    }

    func sendHello(_ change: (inout Hello) -> Void = { _ in }) {
        var hello = properHello()
        change(&hello)
        let frame = hello.frame
        sentHello = frame.bytes
        send(frame)
    }

    /// Waits for the subject's HELLO, which must match its connection data.
    @discardableResult
    func expectHello(within duration: Duration = .seconds(10)) throws -> Hello {
        let frame = try expect(.hello, within: duration)
        let hello: Hello
        do throws(Malformed) { hello = try Hello(payload: frame.payload) } catch {
            throw CaseFailure("\(name): HELLO: \(error)")
        }
        guard frame.channel == 0, frame.payload.count <= Frame.longestBefore else {
            throw CaseFailure("\(name): HELLO of \(frame.payload.count) bytes on channel \(frame.channel)")
        }
        guard hello.sender == linkParameters.theirData.endpoint.bytes else {
            throw CaseFailure("\(name): HELLO of another endpoint")
        }
        guard hello.receiver == linkParameters.me.bytes else {
            throw CaseFailure("\(name): HELLO to another endpoint")
        }
        guard hello.myData == ConnectionData.reference(linkParameters.theirs),
            hello.yourData == ConnectionData.reference(linkParameters.mine)
        else { throw CaseFailure("\(name): HELLO refers to other connection data") }
        guard hello.versions.contains(1) else { throw CaseFailure("\(name): HELLO without version 1") }
        receivedHello = hello
        credit.begin(UInt64(hello.limits.messageCredit))
        return hello
    }

    /// Exchanges both HELLOs, the initiator's first.
    func greet(within duration: Duration = .seconds(10)) throws {
        try expectReady(within: duration)
        if role == .initiator { sendHello() }
        try expectHello(within: duration)
        if role == .responder { sendHello() }
    }

    /// The key of both CONFIRMs.
    var key: LinkKey {
        let isInitiator = role == .initiator
        let tokens = (linkParameters.myToken, linkParameters.theirData.token)
        return LinkKey(
            hellos: isInitiator ? (sentHello, receivedHelloBytes) : (receivedHelloBytes, sentHello),
            tokens: isInitiator ? tokens : (tokens.1, tokens.0),
            binding: binding)
    }

    /// The binding of this connection.
    var binding: [UInt8] { connection.tls?.binding() ?? [UInt8](repeating: 0, count: 32) }

    func sendConfirm(_ change: (inout [UInt8]) -> Void = { _ in }) {
        var mac = key.mac(role)
        change(&mac)
        send(Frame(.confirm, mac))
    }

    /// Waits for the subject's CONFIRM, whose mac must be valid.
    @discardableResult
    func expectConfirm(within duration: Duration = .seconds(10)) throws -> Frame {
        let frame = try expect(.confirm, within: duration)
        guard frame.payload == key.mac(role.other) else {
            throw CaseFailure("\(name): the mac of CONFIRM does not verify")
        }
        return frame
    }

    /// Exchanges HELLO and CONFIRM both ways, which makes the connection a candidate.
    func becomeCandidate(within duration: Duration = .seconds(10)) throws {
        try greet(within: duration)
        sendConfirm()
        try expectConfirm(within: duration)
    }

    /// Exchanges SELECT and SELECTED, each sent by the end that has to.
    func select(within duration: Duration = .seconds(10)) throws {
        if linkParameters.isControlling {
            send(.select)
            try expect(.selected, within: duration)
        } else {
            try expect(.select, within: duration)
            send(.selected)
        }
    }

    /// Does all of chapter 6.
    func complete(within duration: Duration = .seconds(10)) throws {
        try becomeCandidate(within: duration)
        try select(within: duration)
    }

    /// Does all of chapter 6, with a changed HELLO.
    func complete(_ change: (inout Hello) -> Void) throws {
        try expectReady()
        if role == .initiator { sendHello(change) }
        try expectHello()
        if role == .responder { sendHello(change) }
        sendConfirm()
        try expectConfirm()
        try select()
    }
}
