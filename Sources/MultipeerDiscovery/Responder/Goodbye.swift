import MultipeerCore

/// Records that are withdrawn on one interface: a lost goodbye would leave a stale record, so it is sent three
/// times. RFC 6762, 10.1. [mdns.goodbye]
struct Goodbye: Sendable {
    let scope: UInt32
    /// The records, with a TTL of zero.
    private(set) var records: [DNSRecord]
    private var sent = 0
    private(set) var next: Moment?

    init(scope: UInt32, _ records: [DNSRecord], at now: Moment) {
        self.scope = scope
        self.records = records.map { record in
            var goodbye = record
            goodbye.ttl = 0
            return goodbye
        }
        next = records.isEmpty ? nil : now
    }

    static let times = 3
    private static let interval = Duration.milliseconds(80)

    /// Advances after a goodbye was sent.
    mutating func step(at now: Moment) {
        sent += 1
        next = sent < Goodbye.times ? now + Goodbye.interval : nil
    }

    /// Removes records that are valid again.
    mutating func cancel(_ again: [DNSRecord]) {
        records.removeAll { again.contains($0) }
        if records.isEmpty { next = nil }
    }
}
