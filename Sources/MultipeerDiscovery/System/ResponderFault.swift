/// Why the system's responder refused or ended an operation: the status codes of `dns_sd.h`, by what can be done about them.
package enum ResponderFault: Error, Hashable, Sendable {
    /// Another registration has the name.
    case nameConflict
    /// There is no responder, or it ended.
    case notRunning
    /// The user or the system does not allow it.
    case denied
    /// The library or the responder lacks the call, or is of another version.
    case unsupported
    /// There is no such interface.
    case noInterface
    /// The responder, its library or this process is out of something.
    case exhausted
    /// No reply came in time.
    case timedOut
    /// Any other status, with its number.
    case status(Int32)

    /// Returns nil for success. Every other number is a fault, also one that no header lists.
    package init?(status: Int32) {
        switch status {
        case 0: return nil
        case -65_547, -65_548: self = .nameConflict  // AlreadyRegistered, NameConflict
        case -65_563, -65_569: self = .notRunning  // ServiceNotRunning, DefunctConnection
        // Refused, NoAuth, Firewall, PolicyDenied, NotPermitted
        case -65_553, -65_555, -65_550, -65_570, -65_571: self = .denied
        case -65_544, -65_551: self = .unsupported  // Unsupported, Incompatible
        case -65_552: self = .noInterface  // BadInterfaceIndex
        case -65_539: self = .exhausted  // NoMemory
        case -65_568: self = .timedOut  // Timeout
        default: self = .status(status)
        }
    }
}

extension ResponderFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .nameConflict: "the name is in use"
        case .notRunning: "it is not running"
        case .denied: "it does not allow that"
        case .unsupported: "it does not support a call that is needed"
        case .noInterface: "it does not know the network interface"
        case .exhausted: "it has no room for more"
        case .timedOut: "it did not reply in time"
        // What Avahi's library says where there is no daemon.
        case .status(-65_537): "it failed, or is not running"
        case .status(let status): "it failed with status \(status)"
        }
    }
}
