import MultipeerCore
@testable import MultipeerDiscovery

/// A `SystemDNS` whose responder is the test: it sees which operations run, and replies to them.
struct SystemHarness {
    typealias Operation = SystemDNS.Operation

    var dns: SystemDNS
    var now = Moment(nanoseconds: 0)
    /// The operations that run.
    private(set) var running: [SystemDNS.OperationID: Operation] = [:]
    /// All other actions, in order.
    private(set) var told: [SystemDNS.Action] = []

    init(interfaces: [UInt32] = [0], loopback: Set<UInt32> = [1], countsRepeats: Bool = false) {
        dns = SystemDNS(interfaces: interfaces, loopback: loopback, countsRepeats: countsRepeats)
    }

    var operations: [Operation] { running.sorted { $0.key < $1.key }.map(\.value) }

    /// The hosts whose addresses are queried.
    var queriedHosts: Set<DNSName> {
        Set(
            running.values.compactMap { operation in
                if case .query(let name, .a, _) = operation { name } else { nil }
            })
    }

    /// Returns the operation that does this now.
    func operation(_ wanted: Operation) -> SystemDNS.OperationID? {
        running.first { $0.value == wanted }?.key
    }

    /// What was reported of peers, and forgets it.
    mutating func takeTold() -> [SystemDNS.Action] {
        defer { told = [] }
        return told
    }

    /// Calls the engine, and keeps what it orders.
    mutating func with<Result, Failure: Error>(
        _ body: (inout SystemDNS, Moment) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try body(&dns, now)
        for action in dns.takeActions() {
            switch action {
            case .start(let id, let operation): running[id] = operation
            case .end(let id): running[id] = nil
            default: told.append(action)
            }
        }
        return result
    }

    /// Replies to the operations for which the condition holds.
    mutating func reply(_ event: SystemDNS.Event, to condition: (Operation) -> Bool) {
        for id in running.filter({ condition($0.value) }).keys.sorted() {
            with { dns, now in dns.receive(event, from: id, at: now) }
        }
    }

    /// Lets time pass, and the engine do what is due.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let deadline = dns.deadline, deadline <= end {
            now = max(now, deadline)
            with { dns, now in dns.advance(to: now) }
        }
        now = end
    }

    // MARK: what a responder finds

    mutating func instance(_ advert: Advert, isAdded: Bool = true, on interface: UInt32 = 2) {
        reply(
            .instance(label: Binding.label(for: advert.peer), isAdded: isAdded, interface: interface),
            to: { if case .browse = $0 { true } else { false } })
    }

    mutating func record(
        _ type: DNSType, of name: DNSName, _ data: [UInt8], isAdded: Bool = true, on interface: UInt32 = 2
    ) {
        reply(.record(type, data, isAdded: isAdded, interface: interface)) { operation in
            if case .query(name, type, _) = operation { true } else { false }
        }
    }

    mutating func server(
        _ advert: Advert, host: DNSName = Sample.host, isAdded: Bool = true, on interface: UInt32 = 2
    ) {
        let data = [0, 0, 0, 0, UInt8(advert.port >> 8), UInt8(advert.port & 255)] + host.wire
        record(.srv, of: Sample.instance(advert), data, isAdded: isAdded, on: interface)
    }

    mutating func text(_ advert: Advert, isAdded: Bool = true, on interface: UInt32 = 2) {
        let data = Binding.txt(advert.peer, advert.info)
        record(.txt, of: Sample.instance(advert), data, isAdded: isAdded, on: interface)
    }

    /// Finds all records of an instance.
    mutating func find(_ advert: Advert, host: DNSName = Sample.host, on interface: UInt32 = 2) {
        instance(advert, on: interface)
        server(advert, host: host, on: interface)
        text(advert, on: interface)
    }
}
