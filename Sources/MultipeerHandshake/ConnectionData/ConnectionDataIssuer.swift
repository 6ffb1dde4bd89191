import MultipeerCore

/// The connection data that this session has issued. Spec 4.3.
///
/// The same peer gets the same data again, so that crossing exchanges cannot conflict. New addresses create a new version with the
/// same token; earlier versions remain valid until they expire. What expires soon is no longer handed out. An application that
/// accepts every invitation issues data to any number of uids: data for 1,024 peers are held, and the oldest forgotten, except
/// for those of peers that are connecting or linked. [limit.issued]
struct ConnectionDataIssuer: Sendable {
    private struct Record {
        var versions: [ConnectionData] = []
        let expiry: Moment
        /// The time from which a new record is made: before expiry, so that what is handed out lasts as long as an attempt.
        let renewal: Moment
        /// The versions of the record before, and their expiry. [mesh.data]
        var former: (versions: [ConnectionData], expiry: Moment)?

        /// The versions that have not expired, the newest first.
        func valid(at now: Moment) -> [ConnectionData] {
            var all = now < expiry ? Array(versions.reversed()) : []
            if let former, now < former.expiry { all += former.versions.reversed() }
            return all
        }
    }

    private enum Audience: Hashable {
        case anyone
        /// Every member of the mesh, through the database entry that carries it. Spec 11.
        case members
        case peer(UID)
    }

    private var records: [Audience: Record] = [:]
    static let recipientLimit = 1_024

    /// For how many peers, groups of peers and sessions data are held.
    var count: Int { records.count }

    /// Returns the data for `recipient`, for the members of the mesh, or the data open to any peer. `token`: 32 random
    /// bytes, used if a new token is needed. `lifetime`: of new data, in whole seconds: existing data keep their own,
    /// and data for the mesh always have the default one.
    mutating func data(
        for recipient: UID?, as local: LocalPeer, flags: ConnectionData.Flags, candidates: [Candidate],
        token: [UInt8], grease: UInt64, lifetime: Duration = HandshakeTiming.lifetime,
        isInUse: (UID) -> Bool = { _ in false }, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        let audience: Audience = recipient.map { .peer($0) } ?? (flags.contains(.mesh) ? .members : .anyone)
        let (whole, reused) =
            audience == .members
            ? (HandshakeTiming.lifetime, HandshakeTiming.meshRenewal)
            : (lifetime, lifetime - min(HandshakeTiming.renewal, lifetime / 2))
        var record = Record(expiry: now + whole, renewal: now + reused)
        if let known = records[audience] {
            if now < known.renewal { record = known } else { record.former = (known.versions, known.expiry) }
        }
        // [data.idempotent]
        if let known = record.versions.firstIndex(where: {
            $0.candidates == candidates && $0.flags == flags
        }) {
            record.versions.append(record.versions.remove(at: known))
        } else {
            record.versions.append(
                try version(
                    after: record, for: recipient, as: local, flags: flags, candidates: candidates,
                    token: token, grease: grease, at: now))
        }
        records[audience] = record
        if records.count > ConnectionDataIssuer.recipientLimit {
            removeOldest(except: audience, isInUse, at: now)
        }
        return record.versions[record.versions.count - 1]
    }

    /// Removes the expired records, and the oldest of one peer if there are still too many. [limit.issued]
    private mutating func removeOldest(except audience: Audience, _ isInUse: (UID) -> Bool, at now: Moment) {
        records = records.filter { now < $0.value.expiry }
        guard records.count > ConnectionDataIssuer.recipientLimit else { return }
        var oldest: (uid: UID, expiry: Moment)?
        for case (.peer(let uid), let record) in records where .peer(uid) != audience && !isInUse(uid) {
            guard oldest.map({ (record.expiry, uid) < ($0.expiry, $0.uid) }) ?? true else { continue }
            oldest = (uid, record.expiry)
        }
        if let oldest { records[.peer(oldest.uid)] = nil }
    }

    private func version(
        after record: Record, for recipient: UID?, as local: LocalPeer, flags: ConnectionData.Flags,
        candidates: [Candidate], token: [UInt8], grease: UInt64, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        let fields = ConnectionDataFields(
            peer: local.peer, instance: local.endpoint.instance, preference: local.preference,
            fingerprint: local.fingerprint, token: record.versions.last?.token ?? token,
            lifetime: UInt32((record.expiry - now).components.seconds), recipient: recipient,
            candidates: candidates,
            flags: flags)
        return try ConnectionData(fields, grease: grease)
    }

    /// Returns our data that `peer` may hold, most likely first. A member of the mesh most likely holds the data issued
    /// to the mesh; any other peer the data issued for it. [data.expiry]
    func issued(for peer: UID, asMember: Bool, at now: Moment) -> [ConnectionData] {
        let audiences: [Audience] =
            asMember ? [.members, .peer(peer), .anyone] : [.peer(peer), .anyone, .members]
        return audiences.flatMap { records[$0]?.valid(at: now) ?? [] }
    }

    /// Whether any issued data contain loopback addresses. [dial.loopback]
    var hasIssuedLoopback: Bool {
        records.values.contains { record in
            record.versions.contains { $0.candidates.contains(where: \.isLoopback) }
        }
    }
}
