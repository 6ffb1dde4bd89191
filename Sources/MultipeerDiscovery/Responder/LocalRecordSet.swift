/// What the responder says as a whole: all records of one name and type, which travel together. RFC 6762, 10.2.
enum LocalRecordSet: Hashable, Comparable, Sendable {
    /// That there are services of this name: `_services._dns-sd._udp.local` PTR. RFC 6763, 9.
    case kind(DNSName)
    /// The service type's PTR to the instance.
    case pointer(AdvertID)
    /// The instance's SRV.
    case service(AdvertID)
    /// The instance's TXT.
    case text(AdvertID)
    /// The instance's NSEC: nothing but SRV and TXT.
    case types(AdvertID)
    /// The host's A or AAAA, those of the scope.
    case addresses(Family)
    /// The host's NSEC: which of A and AAAA there are on the scope.
    case families

    /// Others may have records of the same name and type: no flush bit, and never an answer without delay.
    var isShared: Bool {
        switch self {
        case .kind, .pointer: true
        case .service, .text, .types, .addresses, .families: false
        }
    }

    /// Whose registration it belongs to; nil for what all share.
    var advert: AdvertID? {
        switch self {
        case .pointer(let id), .service(let id), .text(let id), .types(let id): id
        case .kind, .addresses, .families: nil
        }
    }
}
