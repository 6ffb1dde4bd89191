import MultipeerFraming

/// The connection data that this session has handed out. Spec 4.3.
///
/// The same peer gets the same data for the life of the session, so that crossing exchanges cannot conflict. New
/// addresses make a new version with the same token; earlier versions stay good until they expire.
struct Issuer: Sendable {
    private struct Record {
        var versions: [ConnectionData]
        let expiry: Moment
    }

    private var open: Record?
    private var addressed: [UID: Record] = [:]

    /// The data for `recipient`, or the open one. `token`: 32 random bytes, used if a new token is needed.
    mutating func data(
        for recipient: UID?, as local: LocalPeer, flags: ConnectionData.Flags, candidates: [Candidate],
        token: [UInt8], grease: UInt64, at now: Moment
    ) throws(InvalidConnectionData) -> ConnectionData {
        var record = Record(versions: [], expiry: now + Timing.lifetime)
        if let known = recipient.map({ addressed[$0] }) ?? open, now < known.expiry { record = known }
        // [data.idempotent]
        if let known = record.versions.firstIndex(where: { $0.candidates == candidates }) {
            record.versions.append(record.versions.remove(at: known))
        } else {
            record.versions.append(
                try version(
                    behind: record, for: recipient, as: local, flags: flags, candidates: candidates,
                    token: token, grease: grease, at: now))
        }
        if let recipient { addressed[recipient] = record } else { open = record }
        return record.versions[record.versions.count - 1]
    }

    private func version(
        behind record: Record, for recipient: UID?, as local: LocalPeer, flags: ConnectionData.Flags,
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

    /// What `peer` may hold of ours, best guess first: the newest made for it, then the open one. [data.expiry]
    func issued(for peer: UID, at now: Moment) -> [ConnectionData] {
        [addressed[peer], open].compactMap { $0 }.filter { now < $0.expiry }.flatMap {
            $0.versions.reversed()
        }
    }

    /// Whether we invited anybody to dial our loopback addresses. [dial.loopback]
    var hasIssuedLoopback: Bool {
        (Array(addressed.values) + [open].compactMap { $0 }).contains { record in
            record.versions.contains { $0.candidates.contains(where: \.isLoopback) }
        }
    }
}
