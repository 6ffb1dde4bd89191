import Multipeer

// MARK: sessions and links

extension ShimSubject {
    func data(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let recipient = try request.peer("peer")
        let joinsMesh = try request.flag("mesh") ?? false
        let lifetime = try request.count("lifetime")
        try request.end()
        guard let lifetime else {
            let data = try await ShimFault.translating { () async throws(MultipeerError) in
                try await context.session.connectionData(for: recipient, mesh: joinsMesh)
            }
            return ["data": .hex(data.bytes)]
        }
        // Data for the mesh has its own lifetime.
        if joinsMesh, recipient == nil { throw .unimplemented("lifetime") }
        guard 1...86_400 ~= lifetime else { throw .invalid("lifetime is not from 1 to 86400 s") }
        do throws(SessionFault) {
            let data = try await context.session.driver.connectionData(
                for: recipient?.uid, joinsMesh: joinsMesh, lifetime: .seconds(lifetime))
            return ["data": .hex(data.bytes)]
        } catch {
            throw .failed(ShimReason(MultipeerError(error)))
        }
    }

    /// Reports the outcome as states, unless the data is refused before any connection is attempted.
    func connect(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let bytes = try request.required("data", try request.bytes("data"))
        try request.end()
        let data: ConnectionData
        do throws(InvalidConnectionData) {
            data = try ConnectionData(parsing: bytes)
        } catch {
            throw .failed(ShimReason(error.closeCode, "check \(error.check): \(error)"))
        }
        let attempt = ShimAttempt(context.session)
        context.keep(attempt.begin(with: data))
        if let refusal = await attempt.refusal() { throw .failed(refusal) }
        return [:]
    }

    func cancel(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let peer = try request.required("peer", try request.peer("peer"))
        try request.end()
        await context.session.cancelConnecting(to: peer)
        return [:]
    }

    func disconnect(_ request: inout ShimRequest) throws(ShimFault) {
        let timeLimit = try request.seconds("within") ?? .seconds(1)
        try request.end()
        context.lanes.later(request, in: "disconnect \(context.name)") {
            [context] () async throws(ShimFault) in
            await context.session.disconnect(within: timeLimit)
            return [:]
        }
    }

    func code(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let peer = try request.required("peer", try request.peer("peer"))
        try request.end()
        context.keep(
            Task {
                var fields: [String: ShimValue?]
                do throws(MultipeerError) {
                    fields = ["code": .text(try await context.session.verificationCode(for: peer).code)]
                } catch {
                    fields = ShimReason(error).fields
                }
                fields["peer"] = .hex(peer.uid.bytes)
                await context.pipe.tell("code", of: context.name, fields)
            })
        return [:]
    }

    /// Says what the user says of the code. A confirmation waits for the other side's user; a failure shows in the link.
    func compared(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let peer = try request.required("peer", try request.peer("peer"))
        let result = try request.text("result")
        try request.end()
        let session = context.session
        let call: @Sendable () async throws -> Void
        switch result {
        case "OK": call = { try await session.confirmVerification(of: peer) }
        case "WRONG_CODE": call = { try await session.rejectVerification(of: peer) }
        case "DECLINED": call = { try await session.declineVerification(of: peer) }
        default: throw .invalid("result is not OK, WRONG_CODE or DECLINED")
        }
        context.keep(Task { try? await call() })
        return [:]
    }

    // MARK: state

    func state(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        try request.end()
        var links: [String: ShimValue] = [:]
        let known = Array(peers.values)
        for (peer, _) in known {
            guard let facts = await context.session.connectionInfo(for: peer) else { continue }
            links[ShimValue.digits(of: peer.uid.bytes)] = facts.object
        }
        let states = known.map { (ShimValue.digits(of: $0.peer.uid.bytes), ShimValue.text($0.state)) }
        return ["peers": .object(Dictionary(states) { $1 }), "links": .object(links)]
    }

    // MARK: messages

    func send(_ request: inout ShimRequest) throws(ShimFault) {
        let session = context.session
        let peers = try request.required("to", try request.peers("to"))
        let delivery =
            try request.word("mode", ["reliable": Session.Delivery.reliable, "unreliable": .unreliable])
            ?? .reliable
        let content = try ShimContent(&request)
        try request.end()
        let lane = peers.map { "\($0.uid)" }.joined(separator: " ")
        context.lanes.later(request, in: "send \(session.peer.uid) \(lane)") { () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in
                if peers.count == 1 {
                    try await session.send(content.bytes, to: peers[0], delivery: delivery)
                } else {
                    try session.post(content.bytes, to: peers, delivery: delivery)
                }
            }
            return [:]
        }
    }

    func flush(_ request: inout ShimRequest) throws(ShimFault) {
        let session = context.session
        let peer = try request.required("to", try request.peer("to"))
        try request.end()
        context.lanes.later(request, in: "send \(session.peer.uid) \(peer.uid)") {
            () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in
                try await session.waitUntilReceived(by: peer)
            }
            return [:]
        }
    }

    /// Stops or resumes taking events.
    func pause(_ request: inout ShimRequest, _ isPause: Bool) throws(ShimFault) -> [String: ShimValue?] {
        try request.end()
        if isPause { gate.close() } else { gate.open() }
        return [:]
    }
}

/// An attempt to link with a peer. It runs only on the session's own thread, not on the shim's actor.
private final class ShimAttempt: Sendable {
    private let session: Session
    private let reason = Locked<ShimReason?>(nil)

    init(_ session: Session) { self.session = session }

    func begin(with data: ConnectionData) -> Task<Void, Never> {
        Task(executorPreference: session.executor) { [self] in
            do throws(MultipeerError) {
                try await session.connect(with: data)
            } catch {
                reason.withLock { $0 = ShimReason(error) }
            }
        }
    }

    /// Returns why the attempt was refused, if that happens before any connection is attempted. The tasks here run on the same
    /// thread in order: the attempt is refused, or waits, before the next of them begins.
    func refusal() async -> ShimReason? {
        for _ in 0..<3 { await Task(executorPreference: session.executor) { await Task.yield() }.value }
        return reason.withLock { $0 }
    }
}

extension ConnectionInfo {
    fileprivate var object: ShimValue {
        .object(with: [
            "encrypted": .flag(isEncrypted), "suite": cipherSuite.map { .text($0) },
            "group": keyExchange.map { .text($0) },
            "dialled": .flag(isDialled), "address": .text(remoteAddress), "localAddress": .text(localAddress),
            "datagrams": .object([
                "up": .flag(datagrams.isUp), "sent": .integer(datagrams.sent),
                "received": .integer(datagrams.received), "dropped": .integer(datagrams.dropped),
            ]),
        ])
    }
}
