import MultipeerCore

/// One service instance as the system's responder reports it, on all interfaces.
struct SystemInstance: Sendable {
    let uid: UID
    /// The interfaces on which it was found; these records have no data.
    private(set) var pointers: RecordCounts
    private(set) var servers: RecordCounts
    private(set) var texts: RecordCounts
    /// Whether its records are queried, since when, and otherwise its place in the order of those that wait for it.
    var turn: Turn

    enum Turn: Equatable, Sendable {
        case waiting(UInt64)
        case queried(since: Moment)
    }

    /// What is reported of it.
    struct Appearance: Equatable {
        let peer: PresentPeer
        let freshness: UInt64
    }

    init(uid: UID, countsRepeats: Bool, turn: Turn) {
        self.uid = uid
        pointers = RecordCounts(countsRepeats: countsRepeats)
        servers = pointers
        texts = pointers
        self.turn = turn
    }

    var isQueried: Bool {
        switch turn {
        case .queried: true
        case .waiting: false
        }
    }

    mutating func pointer(isAdded: Bool, on interface: UInt32, order: UInt64) -> Bool {
        isAdded ? pointers.add([], on: interface, order: order) : pointers.remove([], on: interface)
    }

    /// Handles a record of it; one whose data are not of this protocol is treated as absent. [service.txt]
    mutating func record(
        _ type: DNSType, _ data: [UInt8], isAdded: Bool, on interface: UInt32, order: UInt64
    ) -> Bool {
        guard SystemRecordData.isValid(data, of: type) else { return false }
        switch type {
        case .srv:
            return isAdded
                ? servers.add(data, on: interface, order: order) : servers.remove(data, on: interface)
        case .txt:
            guard Binding.read(txt: data, uid: uid) != nil else { return false }
            return isAdded ? texts.add(data, on: interface, order: order) : texts.remove(data, on: interface)
        default: return false
        }
    }

    /// Forgets the records of a query that has ended.
    mutating func forget(_ type: DNSType) {
        switch type {
        case .srv: servers.forget()
        case .txt: texts.forget()
        default: break
        }
    }

    /// See `RecordCounts`.
    mutating func takeIsIncomplete(_ type: DNSType) -> Bool {
        switch type {
        case .srv: servers.takeIsIncomplete()
        case .txt: texts.takeIsIncomplete()
        default: false
        }
    }

    /// Forgets where it was found: the browse of that interface has ended. 0 stands for every interface.
    mutating func forgetPointers(on interface: UInt32) {
        pointers.removeAll { interface == 0 || $0.interface == interface }
    }

    /// Nil while something is missing. [mdns.lost]
    var appearance: Appearance? {
        pointers.entries.compactMap { appearance(on: $0.interface) }.max { $0.freshness < $1.freshness }
    }

    private func appearance(on interface: UInt32) -> Appearance? {
        guard let server = servers.entries(on: interface).last, let text = texts.entries(on: interface).last,
            let host = SystemRecordData.server(server.data)?.host,
            let peer = Binding.read(txt: text.data, uid: uid)
        else { return nil }
        // A new host is a restart. [mdns.restart]
        return Appearance(
            peer: PresentPeer(peer, host: host), freshness: max(server.order, text.order))
    }

    /// Where it may be: the newest SRV record of each interface, and of a keyed uid the others as well. [mdns.flush]
    var destinations: [SystemDestination] {
        pointers.entries.flatMap { pointer -> [SystemDestination] in
            let newestFirst = servers.entries(on: pointer.interface).reversed()
            return newestFirst.prefix(uid.isKeyed ? SystemInstance.mostServers : 1).compactMap { entry in
                SystemRecordData.server(entry.data).map {
                    SystemDestination(host: $0.host, port: $0.port, interface: pointer.interface)
                }
            }
        }
    }

    /// The number of SRV records that are used of a keyed uid.
    private static let mostServers = 4
}

/// The host and the port of a peer, and the interface on which it was found there.
struct SystemDestination: Hashable, Sendable {
    let host: DNSName
    let port: UInt16
    let interface: UInt32
}
