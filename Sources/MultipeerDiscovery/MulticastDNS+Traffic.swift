package import MultipeerCore

/// Datagrams and time.
extension MulticastDNS {
    package mutating func receive(_ datagram: Span<UInt8>, _ arrival: PacketInfo, at now: Moment) {
        noticeGap(at: now)
        defer { collect() }
        guard isCredible(arrival), let message = try? DNSMessage(datagram) else { return }
        guard message.opcode == 0, message.responseCode == 0 else { return }  // [dns.form]
        if message.isResponse {
            guard arrival.port == MulticastDNS.port else { return }  // [mdns.source]
        } else if arrival.isOneShot {
            return
        }
        if message.isResponse, !machineAddresses.isEmpty { noteDuplicates(message) }
        responder.receive(message, arrival, at: now)
        if !isShutDown { querier.receive(message, arrival, at: now) }
    }

    package mutating func advance(to now: Moment) {
        noticeGap(at: now)
        responder.advance(to: now)
        if !isShutDown { querier.advance(to: now) }
        collect()
    }

    /// The time at which `advance` is due; after that call it is in the future.
    package var deadline: Moment? {
        let own = min(heartbeat ?? .distantFuture, responder.deadline ?? .distantFuture)
        let soonest = min(own, (isShutDown ? nil : querier.deadline) ?? .distantFuture)
        return soonest == .distantFuture ? nil : soonest
    }

    static let heartbeatInterval = Duration.seconds(10)
    private static let gap = Duration.seconds(5)

    /// Detects that the process was stopped, by a heartbeat that is long overdue. [mdns.resume]
    private mutating func noticeGap(at now: Moment) {
        guard let due = heartbeat, due <= now else { return }
        heartbeat = isBusy ? now + MulticastDNS.heartbeatInterval : nil
        if now - due >= MulticastDNS.gap { woke(at: now) }
    }

    /// Returns whether a datagram may come from the local link: one sent to the group always does, since multicast is
    /// not forwarded; one sent to one of our ports may come from anywhere. RFC 6762, 11. [mdns.source]
    private func isCredible(_ arrival: PacketInfo) -> Bool {
        guard let scope = scopes[arrival.scope], scope.families.contains(arrival.family) else { return false }
        guard Family(ofAddress: arrival.from) == arrival.family, arrival.isFromOneHost else { return false }
        return !arrival.isOneShot || scope.isOnLink(arrival.from)
    }

    /// Notes records by which another machine announces a peer of this one. Where they come from says nothing: a reflector repeats what
    /// this machine has sent. Their host does, if it has addresses and none of this machine.
    private mutating func noteDuplicates(_ message: DNSMessage) {
        let records = message.answers + message.additionals
        for record in records where record.ttl > 0 {
            guard case .srv(_, _, _, let host) = record.data, host != responder.local.host,
                let service = record.name.parent, let label = record.name.firstLabel,
                let uid = Binding.uid(inLabel: label),
                querier.hides(uid, in: service) || responder.local.contains(uid, in: service)
            else { continue }
            let addresses = records.compactMap { record -> [UInt8]? in
                guard record.name == host, record.ttl > 0 else { return nil }
                return switch record.data {
                case .a(let address), .aaaa(let address): address
                default: nil
                }
            }
            if addresses.isEmpty || addresses.contains(where: isOfThisMachine) { continue }
            actions.append(.duplicated(uid, by: Array(addresses.prefix(HostTable.mostAddresses))))
        }
    }

    mutating func collect() {
        for action in responder.takeActions() {
            switch action {
            case .send(let outgoing): send(outgoing)
            case .registered(let id): actions.append(.registered(id))
            case .renamed(let id): actions.append(.renamed(id))
            }
        }
        for action in querier.takeActions() {
            switch action {
            case .send(let outgoing): send(outgoing)
            case .browse(let id, let uid, let peer): actions.append(.browse(id, uid, peer))
            case .returned(let id, let uid): actions.append(.returned(id, uid))
            case .resolved(let id, let resolution):
                if resolves.remove(id) != nil { actions.append(.resolved(id, resolution)) }
            }
        }
    }

    private mutating func send(_ outgoing: OutgoingMessage) {
        guard let scope = scopes[outgoing.scope], scope.families.contains(outgoing.family) else { return }
        let budget = scope.messageBudget(outgoing.family)
        for packet in MessageSplitter.of(outgoing.message, budget: budget, isLegacy: outgoing.isLegacy) {
            actions.append(action(of: packet, outgoing))
        }
    }

    private func action(of packet: [UInt8], _ outgoing: OutgoingMessage) -> Action {
        switch outgoing.way {
        case .multicast: .multicast(packet, scope: outgoing.scope, outgoing.family)
        case .ask: .ask(packet, scope: outgoing.scope, outgoing.family)
        case .unicast(let address, let port):
            .unicast(packet, scope: outgoing.scope, outgoing.family, to: address, port: port)
        }
    }
}

extension PacketInfo {
    /// Whether the sender is neither the unspecified address nor a group.
    fileprivate var isFromOneHost: Bool {
        guard from.count == 4 || from.count == 16, port != 0 else { return false }
        if from.allSatisfy({ $0 == 0 }) { return false }
        return from.count == 4 ? from[0] & 0xF0 != 0xE0 : from[0] != 0xFF
    }
}

extension OutgoingMessage {
    /// Whether it is for a conventional resolver, which may not know compressed names in SRV.
    fileprivate var isLegacy: Bool {
        if case .unicast(_, let port) = way { port != MulticastDNS.port } else { false }
    }
}
