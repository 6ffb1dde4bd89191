/// The unit of a response: all records of one name and type, which are sent together. RFC 6762, 10.2.
enum LocalRecordSet: Hashable, Comparable, Sendable {
    /// The existence of services of this name: `_services._dns-sd._udp.local` PTR. RFC 6763, 9.
    case kind(DNSName)
    /// The service type's PTR to the instance.
    case pointer(AdvertID)
    /// The instance's SRV.
    case service(AdvertID)
    /// The instance's TXT.
    case text(AdvertID)
    /// The instance's NSEC: only SRV and TXT exist.
    case types(AdvertID)
    /// The host's A or AAAA records on the scope.
    case addresses(Family)
    /// The host's NSEC: which of A and AAAA exist on the scope.
    case families

    /// Whether other hosts may have records of the same name and type: then there is no flush bit, and never a
    /// response without delay.
    var isShared: Bool {
        switch self {
        case .kind, .pointer: true
        case .service, .text, .types, .addresses, .families: false
        }
    }

    /// The advertisement to which it belongs; nil for shared records.
    var advert: AdvertID? {
        switch self {
        case .pointer(let id), .service(let id), .text(let id), .types(let id): id
        case .kind, .addresses, .families: nil
        }
    }
}
