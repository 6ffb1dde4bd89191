import Foundation
import Multipeer

// MARK: sessions and links

extension Shim {
    func makeSession(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let options = try ShimOptions(&request) { [weak self] name, evidence in
            await self?.tell(of: evidence, to: name)
        }
        try request.end()
        let fresh = try ShimSubject(options)
        await add(fresh)
        listen(to: fresh)
        return [
            "uid": .hex(options.peer.uid.bytes), "name": .text(options.peer.displayName),
            "implementation": .text("swift-multipeer \(Multipeer.version)"),
            "levels": .list(["core", "channels", "datagram", "mesh", "invite", "code"].map { .text($0) }),
        ]
    }

    private func tell(of evidence: TrustEvidence, to name: String) async {
        guard let subject = subjects[name] else { return }
        await tell(
            "certificate", of: subject,
            [
                "peer": .hex(evidence.peer.bytes), "name": .text(evidence.name),
                "fingerprint": evidence.fingerprint.map { .hex($0.bytes) },
            ])
    }

    func data(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let recipient = try request.peer("peer")
        let joinsMesh = try request.flag("mesh") ?? false
        let lifetime = try request.count("lifetime")
        try request.end()
        guard let lifetime else {
            let data = try await ShimFault.translating { () async throws(MultipeerError) in
                try await subject.session.connectionData(for: recipient, mesh: joinsMesh)
            }
            return ["data": .hex(data.bytes)]
        }
        // What the mesh is told has a lifetime of its own.
        if joinsMesh, recipient == nil { throw .unimplemented("lifetime") }
        guard 1...86_400 ~= lifetime else { throw .invalid("lifetime is not from 1 to 86400 s") }
        do throws(SessionFault) {
            let data = try await subject.session.driver.connectionData(
                for: recipient?.uid, joinsMesh: joinsMesh, lifetime: .seconds(lifetime))
            return ["data": .hex(data.bytes)]
        } catch {
            throw .failed(ShimReason(MultipeerError(error)))
        }
    }

    /// What comes of it is told as states, unless it is refused before anybody is sought.
    func connect(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let bytes = try request.required("data", try request.bytes("data"))
        try request.end()
        let data: ConnectionData
        do throws(InvalidConnectionData) {
            data = try ConnectionData(bytes)
        } catch {
            throw .failed(ShimReason(error.closeCode, "check \(error.check): \(error)"))
        }
        if let refusal = await subject.refusal(of: data) { throw .failed(refusal) }
        return [:]
    }

    func cancel(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let peer = try request.required("peer", try request.peer("peer"))
        try request.end()
        await subject.session.cancelConnect(peer)
        return [:]
    }

    func disconnect(_ request: inout ShimRequest) throws(ShimFault) {
        let subject = try subject(of: &request)
        let patience = try request.seconds("within") ?? .seconds(1)
        try request.end()
        later(request, in: "disconnect \(subject.name)") { () async throws(ShimFault) in
            await subject.session.disconnect(within: patience)
            return [:]
        }
    }

    func forget(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        try request.end()
        await remove(subject)
        return [:]
    }

    func code(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let peer = try request.required("peer", try request.peer("peer"))
        try request.end()
        subject.keep(
            Task {
                var fields: [String: ShimValue?]
                do throws(MultipeerError) {
                    fields = ["code": .text(try await subject.session.verificationCode(for: peer))]
                } catch {
                    fields = ShimReason(error).fields
                }
                fields["peer"] = .hex(peer.uid.bytes)
                await self.tell("code", of: subject, fields)
            })
        return [:]
    }

    // MARK: what there is

    func state(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        try request.end()
        var links: [String: ShimValue] = [:]
        let known = subject.things.withLock { Array($0.peers.values) }
        for (peer, _) in known {
            guard let facts = await subject.session.facts(for: peer) else { continue }
            links[ShimValue.digits(of: peer.uid.bytes)] = facts.object
        }
        let states = known.map { (ShimValue.digits(of: $0.peer.uid.bytes), ShimValue.text($0.state)) }
        return ["peers": .object(Dictionary(states) { $1 }), "links": .object(links)]
    }

    /// Makes the system refuse this process more than so much.
    func limit(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let size = try request.count("file")
        let count = try request.count("descriptors")
        try request.end()
        if let size {
            _ = signal(SIGXFSZ, SIG_IGN)
            try ShimUsage.limit(.init(RLIMIT_FSIZE.rawValue), to: size)
        }
        if let count { try ShimUsage.limit(.init(RLIMIT_NOFILE.rawValue), to: count) }
        return [:]
    }

    func stats(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        _ = try request.text("session")
        try request.end()
        var buffered = 0
        for subject in subjects.values { buffered += await subject.session.driver.heldBytes }
        let usage = ShimUsage()
        return [
            "rss": .integer(usage.resident), "heap": .integer(usage.allocated),
            "fds": .integer(usage.descriptors), "threads": .integer(usage.threads),
            "cpu": .number(usage.seconds), "buffered": .integer(buffered),
        ]
    }
}

extension ShimSubject {
    /// Seeks a peer; answers why not, if that is known before anybody is sought.
    fileprivate func refusal(of data: ConnectionData) async -> ShimReason? {
        let (session, result) = (session, ShimOutcome())
        // On the session's own thread, one behind the other: the first is refused, or waits, before the second begins.
        keep(
            Task(executorPreference: session.executor) {
                do throws(MultipeerError) {
                    try await session.connect(with: data)
                } catch {
                    result.reason.withLock { $0 = ShimReason(error) }
                }
            })
        for _ in 0..<3 { await Task(executorPreference: session.executor) { await Task.yield() }.value }
        return result.reason.withLock { $0 }
    }
}

/// Why something did not come about, so far.
private final class ShimOutcome: Sendable {
    let reason = Locked<ShimReason?>(nil)
}

extension LinkFacts {
    fileprivate var object: ShimValue {
        .object(with: [
            "encrypted": .flag(isEncrypted), "suite": suite.map { .text($0) }, "dialled": .flag(isDialled),
            "address": .text(address), "localAddress": .text(localAddress),
            "datagrams": .object([
                "up": .flag(datagrams.isUp), "sent": .integer(datagrams.sent),
                "received": .integer(datagrams.received), "dropped": .integer(datagrams.dropped),
            ]),
        ])
    }
}
