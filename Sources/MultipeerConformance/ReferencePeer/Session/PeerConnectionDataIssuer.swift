/// The connection data that a session has issued. Spec 4.3.
final class PeerConnectionDataIssuer {
    private unowned let session: PeerSession
    private var all: [IssuedConnectionData] = []

    init(_ session: PeerSession) { self.session = session }

    private var bug: Bug? { session.bug }

    /// Returns connection data for a peer, or open data; the same as before as long as that is usable.
    func data(for recipient: [UInt8]?, isMesh isAsked: Bool, lifetime: Int = 600) -> IssuedConnectionData {
        // A certificate that fits no entry. Spec 11.4.
        let isMesh = isAsked && (session.identity?.leaf.count ?? 0 <= 4_096 || bug == .meshWithAnyCertificate)
        let now = Instant.now
        if bug != .dataNeverExpires { all.removeAll { $0.expires <= now } }
        let known = all.last {
            $0.recipient == recipient && $0.isMesh == isMesh && now - $0.made < .seconds(43_200)
        }
        if let known, bug != .dataNewEachTime { return known }
        let token = session.peer.randomBytes(32)
        let made = IssuedConnectionData(
            bytes: bytes(for: recipient, isMesh: isMesh, token: token, lifetime: lifetime), token: token,
            recipient: recipient, isMesh: isMesh, expires: now + .seconds(lifetime), made: now)
        all.append(made)
        forgetOldest()
        return made
    }

    /// Holds data for at most 1,024 peers, besides those that are expected. Spec 15.2.
    private func forgetOldest() {
        guard bug != .issuesWithoutLimit, all.count > 1_024, Set(all.compactMap(\.recipient)).count > 1_024
        else { return }
        let expected = Set(session.attempts.keys.map(\.uid)).union(session.links.keys)
        guard let oldest = all.firstIndex(where: { $0.recipient.map { !expected.contains($0) } ?? false })
        else { return }
        all.remove(at: oldest)
    }

    private func bytes(for recipient: [UInt8]?, isMesh: Bool, token: [UInt8], lifetime: Int) -> [UInt8] {
        var flags: UInt8 = isMesh ? ConnectionData.Flag.mesh : 0
        if session.settings.identity != nil { flags |= ConnectionData.Flag.identity }
        let preference = session.preference
        let data = ConnectionData(
            flags: flags, endpoint: session.endpoint, name: session.name, preference: preference,
            fingerprint: preference == .none ? nil : session.identity?.fingerprint, token: token,
            lifetime: UInt32(lifetime),
            recipient: bug == .dataToAnybody ? nil : recipient,
            candidates: [Candidate(address: session.settings.listen.address, port: session.listener.port)],
            extra: bug == .neverGreases ? [] : [TLVEntry(0x3A3A, [0x5a])])
        var entries = data.entries
        if bug == .dataUnsorted { entries.reverse() }
        if bug == .dataWithoutLifetime { entries = entries.without(ConnectionData.Field.lifetime) }
        return ConnectionData.bytes(entries, flags: flags)
    }

    /// Returns the session's data that an initiator names. Spec 6.1, `link.unknown-data`.
    func next(for uid: [UInt8], _ attempt: PeerAttempt?) -> IssuedConnectionData? {
        let usable = usable(for: uid)
        guard !usable.isEmpty else { return nil }
        return usable[(attempt?.guess ?? 0) % usable.count]
    }

    /// Returns usable data, newest first, those for this very peer before open ones.
    func usable(for uid: [UInt8]) -> [IssuedConnectionData] {
        let usable = all.filter {
            ($0.expires > .now || bug == .dataNeverExpires) && ($0.recipient == nil || $0.recipient == uid)
        }
        return usable.reversed().filter { $0.recipient != nil }
            + usable.reversed().filter { $0.recipient == nil }
    }

    func forget() { all = [] }
}
