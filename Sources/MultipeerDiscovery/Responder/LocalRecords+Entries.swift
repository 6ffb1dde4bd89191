/// The records of the entries, and which entries a question requests.
extension LocalRecords {
    func records(of entry: LocalRecordSet, on scope: Scope) -> [DNSRecord] {
        switch entry {
        case .kind(let service): [DNSRecord(LocalRecords.meta, ttl: Responder.otherTTL, .ptr(service))]
        case .pointer(let id): [registrations[id]?.pointer].compactMap(\.self)
        case .service(let id): [registrations[id]?.service].compactMap(\.self)
        case .text(let id): [registrations[id]?.text].compactMap(\.self)
        case .types(let id): [registrations[id]?.types].compactMap(\.self)
        case .addresses(let family): addressRecords(of: family, on: scope)
        case .families: familyRecords(on: scope)
        }
    }

    /// Returns all addresses of the interface, and only those. RFC 6762, 6.2. [mdns.scope]
    func addressRecords(of family: Family, on scope: Scope) -> [DNSRecord] {
        scope.addresses(of: family).map { address in
            DNSRecord(host, isCacheFlush: true, ttl: hostTTL, family == .v4 ? .a(address) : .aaaa(address))
        }
    }

    func addressRecords(on scope: Scope) -> [DNSRecord] {
        Family.allCases.flatMap { addressRecords(of: $0, on: scope) }
    }

    private func familyRecords(on scope: Scope) -> [DNSRecord] {
        let types = LocalRecords.families(of: scope).map { $0 == .v4 ? DNSType.a : DNSType.aaaa }
        guard !types.isEmpty else { return [] }
        let data = DNSData.nsec(next: host, types: types.map(\.rawValue))
        return [DNSRecord(host, isCacheFlush: true, ttl: hostTTL, data)]
    }

    private static func families(of scope: Scope) -> [Family] {
        Family.allCases.filter { family in scope.addresses.contains { $0.family == family } }
    }

    /// Returns the entries that answer the question on that interface.
    func entries(for question: DNSQuestion, on scope: Scope) -> [LocalRecordSet] {
        let type = question.type
        switch owners[question.name] {
        case .meta:
            guard type == .ptr || type == .any else { return [] }
            let services = registrations.values.filter { $0.isEstablished(on: scope.id) }.map(\.pointer.name)
            return Set(services).sorted().map { .kind($0) }
        case .service(let ids):
            guard type == .ptr || type == .any else { return [] }
            return ids.filter { registrations[$0]?.isEstablished(on: scope.id) == true }.map { .pointer($0) }
        case .instance(let id):
            guard registrations[id]?.isEstablished(on: scope.id) == true else { return [] }
            return LocalRecords.entries(ofInstance: id, type)
        case .host: return entries(ofHost: type, on: scope)
        case nil: return []
        }
    }

    private static func entries(ofInstance id: AdvertID, _ type: DNSType) -> [LocalRecordSet] {
        switch type {
        case .srv: [.service(id)]
        case .txt: [.text(id)]
        case .any: [.service(id), .text(id)]
        default: [.types(id)]  // [mdns.nsec]
        }
    }

    private func entries(ofHost type: DNSType, on scope: Scope) -> [LocalRecordSet] {
        let present = LocalRecords.families(of: scope)
        let wanted = present.filter { family in
            type == .any || type == (family == .v4 ? .a : .aaaa)
        }
        if !wanted.isEmpty { return wanted.map { .addresses($0) } }
        return present.isEmpty ? [] : [.families]  // [mdns.nsec]
    }

    /// Returns the additional records that a requester of these entries is likely to need. RFC 6763, 12; RFC 6762, 6.2.
    func company(of entries: some Sequence<LocalRecordSet>, on scope: Scope) -> [LocalRecordSet] {
        let present = LocalRecords.families(of: scope)
        let hosts = present.map { LocalRecordSet.addresses($0) } + (present.count == 1 ? [.families] : [])
        var more: Set<LocalRecordSet> = []
        for entry in entries {
            switch entry {
            case .pointer(let id): more.formUnion([.service(id), .text(id), .types(id)] + hosts)
            case .service(let id): more.formUnion([.types(id)] + hosts)
            case .text(let id): more.insert(.types(id))
            case .addresses: more.formUnion(hosts)
            case .kind, .types, .families: break
            }
        }
        return more.subtracting(entries).sorted()
    }

    /// Returns the entry that contains this record with the same data; nil for a single one of several addresses.
    func entry(saying record: DNSRecord, on scope: Scope) -> LocalRecordSet? {
        switch (owners[record.name], record.data) {
        case (.meta, .ptr(let service)):
            if case .service = owners[service] { return .kind(service) }
            return nil
        case (.service, .ptr(let instance)):
            if case .instance(let id) = owners[instance], registrations[id]?.pointer.name == record.name {
                return .pointer(id)
            }
            return nil
        case (.instance(let id), let data):
            if data == registrations[id]?.service.data { return .service(id) }
            if data == registrations[id]?.text.data { return .text(id) }
            return data == registrations[id]?.types.data ? .types(id) : nil
        case (.host, .a(let address)), (.host, .aaaa(let address)):
            return scope.addresses.contains { $0.bytes == address }
                ? .addresses(Family(ofAddress: address)) : nil
        default: return nil
        }
    }

    /// Returns the entries that the requester already has, with enough lifetime left. RFC 6762, 7.1.
    /// [mdns.known-answer]
    func known(_ entries: Set<LocalRecordSet>, from answers: [DNSRecord], on scope: Scope) -> Set<
        LocalRecordSet
    > {
        guard !answers.isEmpty else { return [] }
        return entries.filter { entry in
            let ours = records(of: entry, on: scope)
            return ours.allSatisfy { our in
                answers.contains { $0.ttl >= our.ttl / 2 && $0.data == our.data && $0.name == our.name }
            }
        }
    }
}
