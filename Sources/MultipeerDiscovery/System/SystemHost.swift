/// The addresses of a host, of both families.
struct SystemHost: Sendable {
    /// The maximum number of hosts whose addresses are queried at a time.
    static let most = 32

    private var addresses: [DNSType: RecordCounts]

    init(countsRepeats: Bool) {
        let none = RecordCounts(countsRepeats: countsRepeats)
        addresses = [.a: none, .aaaa: none]
    }

    mutating func record(
        _ type: DNSType, _ data: [UInt8], isAdded: Bool, on interface: UInt32, order: UInt64
    ) {
        guard SystemRecordData.isValid(data, of: type) else { return }
        if isAdded {
            _ = addresses[type]?.add(data, on: interface, order: order)
        } else {
            _ = addresses[type]?.remove(data, on: interface)
        }
    }

    mutating func forget(_ type: DNSType) { addresses[type]?.forget() }

    /// See `RecordCounts`.
    mutating func takeIsIncomplete(_ type: DNSType) -> Bool { addresses[type]?.takeIsIncomplete() ?? false }

    /// Whether addresses of both families are known on an interface.
    func isWhole(on interface: UInt32) -> Bool {
        addresses.values.allSatisfy { !$0.entries(on: interface).isEmpty }
    }

    /// Returns the addresses that are known on an interface, those of IPv6 first.
    func addresses(on interface: UInt32) -> [[UInt8]] {
        [.aaaa, .a].flatMap { (type: DNSType) in
            addresses[type].map { $0.entries(on: interface).map(\.data) } ?? []
        }
    }
}
