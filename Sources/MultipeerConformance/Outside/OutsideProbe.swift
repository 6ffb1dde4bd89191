import MultipeerSecurity

/// The first invitation to a peer that is judged from outside, which shows who it is, and that it links.
package enum OutsideProbe {
    /// The peer is reached, but breaks the rules of every link.
    package struct NotLinked: Error, CustomStringConvertible {
        package let description: String
    }

    /// Returns what the peer says of itself; throws the reason why it cannot be judged.
    package static func examine(
        _ target: OutsidePeer.Address, within duration: Duration = .seconds(20)
    ) throws -> OutsidePeer {
        let caseRun = CaseRun(
            .testerLower, shim: "", random: SplitMix64(seed: .random(in: 0...UInt64.max), name: ""))
        let invitation = OutsideInvitation(target, in: caseRun)
        let uid = [UInt8](repeating: 0, count: 8) + caseRun.random.bytes(8)
        let theirs: [UInt8]
        do { theirs = try invitation.data(for: uid, named: "multipeer-conform", within: duration) } catch {
            throw SuiteFault("\(target.text) does not accept an invitation: \(error)")
        }
        do {
            return try link(try ConnectionData(theirs), theirs, invitation, uid, target, caseRun)
        } catch {
            throw NotLinked(description: "\(target.text) accepts an invitation, but does not link: \(error)")
        }
    }

    /// Returns the plan for a peer; `program` is the command line of `multipeer-conform`.
    package static func plan(
        _ peer: OutsidePeer, at target: OutsidePeer.Address, program: String, cases: [Case], seed: UInt64
    ) -> TestPlan {
        let words = ["shim", "--to", target.text, "--known", peer.description, "--context", target.context]
        let quoted = words.map { "'\($0.replacing("'", with: "'\\''"))'" }
        var plan = TestPlan(shim: "\(program) \(quoted.joined(separator: " "))", cases: cases, seed: seed)
        plan.isOutside = true
        // The peer links with one tester at a time.
        plan.jobs = 1
        return plan
    }

    private static func link(
        _ theirData: ConnectionData, _ theirs: [UInt8], _ invitation: OutsideInvitation, _ uid: [UInt8],
        _ target: OutsidePeer.Address, _ caseRun: CaseRun
    ) throws -> OutsidePeer {
        // Its data may name any address; only the one that the user has given is tested.
        guard var candidate = theirData.candidates.first(where: { $0.address == target.place.address }) else {
            throw SuiteFault("its connection data does not have the address at which it was invited")
        }
        candidate.zone = target.place.zone
        let source = try TCPSocket.source(toward: candidate)
        let peer = OutsidePeer(
            uid: theirData.endpoint.uid, name: String(decoding: theirData.name, as: UTF8.self),
            preference: theirData.preference, address: candidate.address, source: source,
            zone: candidate.zone)
        let preference: Preference = peer.preference == .none ? .none : .required
        let tester = try Tester(
            "multipeer-conform", uid: uid, preference: preference, address: source, zone: candidate.zone,
            in: caseRun)
        let mine = tester.data(for: peer.uid)
        var linkParameters = LinkParameters(
            mine: mine.bytes, myToken: mine.token, theirs: theirs, theirData: theirData, me: tester.endpoint)
        linkParameters.theirData.prefer(peer.address)
        invitation.complete(mine.bytes)
        let link = try tester.dial(linkParameters)
        try link.complete()
        try link.expectAlive()
        link.send(.close(.goodbye))
        try link.expectEnd()
        return peer
    }
}

extension ConnectionData {
    /// Puts the candidates at an address first: there the peer is known to be reached.
    mutating func prefer(_ address: [UInt8]) {
        candidates = candidates.filter { $0.address == address } + candidates.filter { $0.address != address }
    }
}
