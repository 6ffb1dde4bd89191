import MultipeerSecurity

/// The entries of members, and which of them are believed. Spec 11.4 and 11.9.
extension PeerMesh {
    /// Makes the checks of 11.9 in their order.
    func take(_ payload: [UInt8], from link: PeerLink) throws(ProtocolError) {
        let count = payload.count > 28 ? payload[28] : 0
        try demand(count <= 32, .flood, "\(count) members")
        if bug != .membersWithoutLimit { try link.countControl() }
        try demand(link.isMesh, "MEMBERS on a direct link")
        let isUnlimited = bug == .membersWithoutLimit || bug == .membersAreControl
        try demand(link.memberBucket.take() || isUnlimited, .flood, "too many MEMBERS")
        let made: (MemberEntry, ReceivedConnectionData)
        do throws(ProtocolError) { made = try read(payload) } catch {
            if bug == .entriesUnchecked { return }
            throw error
        }
        let (entry, held) = made
        guard try isOfOneKey(held.data, link) else { return }
        if wouldUse(entry, from: link) { try demandSignature(entry) }
        if entry.endpoint == me { return takeOwn(entry, from: link) }
        guard departed[entry.endpoint] == nil || bug == .believesDeparted else { return }
        let isFirstHand = entry.endpoint == link.endpoint
        let isKnownBetter = !isFirstHand && links.contains { $0.endpoint == entry.endpoint }
        if isKnownBetter && bug != .takesHearsay || dismissed[entry.endpoint] != nil {
            if bug == .forgetsSetAside { return }
            let isNewer = aside[entry.endpoint].map { $0.0.sequence < entry.sequence } ?? true
            if isNewer { aside[entry.endpoint] = made }
            return
        }
        let replaces = isFirstHand && !link.hasEntry
        if isFirstHand { link.hasEntry = true }
        believe(entry, held, from: link, replaces: replaces)
    }

    /// Handles what was set aside for an endpoint as if it had just been received.
    func takeUp(_ endpoint: Endpoint) {
        guard let (entry, held) = aside.removeValue(forKey: endpoint), departed[endpoint] == nil else {
            return
        }
        believe(entry, held, from: nil, replaces: false)
    }

    private func believe(
        _ entry: MemberEntry, _ held: ReceivedConnectionData, from link: PeerLink?, replaces: Bool
    ) {
        let old = known[entry.endpoint]
        if let old, !replaces, entry.sequence <= old.entry.sequence, bug != .believesOld { return }
        if old?.entry == entry { return }
        guard old != nil || makeRoom(for: entry.endpoint) else { return }
        learnt += 1
        known[entry.endpoint] = StoredEntry(entry: entry, held: held, number: old?.number ?? learnt)
        if let attempt = session.attempts[entry.endpoint], attempt.isForMesh, bug != .keepsFirstMeshData {
            session.connect(held, isForMesh: true)
        }
        for other in links where other !== link { queue(entry.endpoint, to: other) }
        pour()
    }

    private func read(_ payload: [UInt8]) throws(ProtocolError) -> (MemberEntry, ReceivedConnectionData) {
        let entry: MemberEntry
        do throws(Malformed) { entry = try MemberEntry(payload: payload) } catch { throw .broken("\(error)") }
        try demand(entry.list.count <= 31, "\(entry.list.count) members")
        let isSorted = zip(entry.list, entry.list.dropFirst()).allSatisfy { $0.bytes.precedes($1.bytes) }
        try demand(isSorted && !entry.list.contains(entry.endpoint), "a list of members in disorder")
        let data = try ConnectionDataReader(bug: bug).read(entry.data)
        try demand(data.endpoint == entry.endpoint, "mesh data of another endpoint")
        try demand(
            data.flags & ConnectionData.Flag.mesh != 0 && data.recipient == nil, "data that is not mesh data")
        if session.preference == .none {
            let isUnsigned = data.fingerprint == nil && entry.certificate.isEmpty && entry.signature.isEmpty
            try demand(isUnsigned, "a signed entry of a member without a key")
        } else {
            try demand(
                (1...4_096).contains(entry.certificate.count),
                "a certificate of \(entry.certificate.count) bytes")
            try demand(
                (1...1_024).contains(entry.signature.count), "a signature of \(entry.signature.count) bytes")
            let isPinned = data.fingerprint == SHA256.hash(entry.certificate)
            try demand(isPinned || bug == .entryCertificateUnchecked, "the certificate of another peer")
        }
        return (entry, ReceivedConnectionData(bytes: entry.data, data: data))
    }

    private func demandSignature(_ entry: MemberEntry) throws(ProtocolError) {
        guard session.preference != .none, bug != .entrySignatureUnchecked else { return }
        let isValid = TLSIdentity.verifies(entry.signature, of: entry.signedBytes, by: entry.certificate)
        try demand(isValid, .badMAC, "an entry with a signature of another key")
    }

    /// Returns whether the key in mesh data is the one that its endpoint has: that of its link, or of the known entry.
    private func isOfOneKey(_ data: ConnectionData, _ link: PeerLink) throws(ProtocolError) -> Bool {
        let key = data.fingerprint
        if data.endpoint == link.endpoint {
            try demand(link.held[0].data.fingerprint == key, "an entry of another key than that of the link")
            return true
        }
        if bug == .secondKeyBelieved { return true }
        if data.endpoint == me { return session.preference == .none || key == session.identity?.fingerprint }
        if let other = session.links.values.first(where: { $0.endpoint == data.endpoint }) {
            return other.held[0].data.fingerprint == key
        }
        let former = known[data.endpoint]?.held ?? aside[data.endpoint]?.1
        return former.map { $0.data.fingerprint == key } ?? true
    }

    /// Returns whether an entry is newer than what is known, so that its signature matters.
    private func wouldUse(_ entry: MemberEntry, from link: PeerLink) -> Bool {
        if entry.endpoint == me { return entry.sequence >= highest && entry.signedBytes != own?.signedBytes }
        if departed[entry.endpoint] != nil, bug != .believesDeparted { return false }
        if entry.endpoint == link.endpoint, !link.hasEntry { return true }
        let former = [known[entry.endpoint]?.entry, aside[entry.endpoint]?.0].compactMap { $0?.sequence }
        return former.allSatisfy { $0 < entry.sequence } || bug == .believesOld
    }

    private func takeOwn(_ entry: MemberEntry, from link: PeerLink) {
        guard entry.signedBytes != own?.signedBytes, entry.sequence >= highest, entry.sequence < 1 << 31
        else {
            return
        }
        if bug == .believesForgery {
            own = entry
            highest = entry.sequence
        } else {
            highest = entry.sequence
            own = nil
        }
        if own == nil { _ = makeOwn() }
        for other in links { queue(me, to: other) }
        pour()
    }

    /// Makes room for one more entry: 32 including the session's own. That of a mesh link has its place in any case.
    private func makeRoom(for newcomer: Endpoint) -> Bool {
        if known.count < 31 || bug == .entriesWithoutLimit { return true }
        let inside = Set(component)
        guard
            let oldest = known.filter({ !inside.contains($0.key) })
                .min(by: { $0.value.outsideSince ?? .now < $1.value.outsideSince ?? .now })
        else { return makeRoomInside(for: newcomer) }
        known[oldest.key] = nil
        return true
    }

    /// Drops the newest member that does not count for one that does.
    private func makeRoomInside(for newcomer: Endpoint) -> Bool {
        let counted = counted(component)
        guard counted.contains(newcomer.uid), bug != .noPlaceForMembers else { return false }
        let others = known.filter { !counted.contains($0.key.uid) }
        guard let newest = others.max(by: { $0.value.since < $1.value.since }) else { return false }
        known[newest.key] = nil
        return true
    }
}
