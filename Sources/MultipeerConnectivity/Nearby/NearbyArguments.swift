import Foundation
import Multipeer
package import MultipeerDiscovery
import MultipeerFraming
import MultipeerTransport

// The arguments of applications, translated to the native API.

extension ServiceType {
    /// Creates the type that an application means: capital letters are lower-cased, as on the network.
    init(tolerant text: String) throws(InvalidServiceType) { try self.init(parsing: text.lowercased()) }

    /// Creates it, or returns the error that a start reports.
    static func of(_ text: String, for caller: StaticString) -> Result<ServiceType, MCError> {
        do throws(InvalidServiceType) { return .success(try ServiceType(tolerant: text)) } catch {
            let sentence = "serviceType \(text.debugDescription): \(error)"
            ConsoleNotices.shared.write(once: "\(caller): \(sentence)")
            return .failure(MCError.invalid(sentence))
        }
    }
}

extension DiscoveryInfo {
    /// Creates what is advertised of an application's information; entries without room are named on standard error.
    init(_ info: [String: String]?, for caller: StaticString) {
        let advertised = AdvertisedInfo(info ?? [:])
        if !advertised.omitted.isEmpty {
            let keys = advertised.omitted.map(\.debugDescription).joined(separator: ", ")
            ConsoleNotices.shared.write(
                once:
                    "\(caller): discoveryInfo has more than \(DiscoveryInfo.longest) bytes; left out: \(keys)"
            )
        }
        self = advertised.info
    }

    /// Throws for what Apple's framework does not allow, and for what is not advertised whole.
    static func check(_ info: [String: String]?) throws {
        for (key, value) in info ?? [:] {
            if key.utf8.contains(UInt8(ascii: "=")) {
                throw MCError.invalid("the key \(key.debugDescription) contains '='")
            }
            let count = key.utf8.count + 1 + value.utf8.count
            if count > 255 {
                throw MCError.invalid(InvalidDiscoveryInfo.entryLength(key: key, count))
            }
        }
        let omitted = AdvertisedInfo(info ?? [:]).omitted
        if !omitted.isEmpty {
            throw MCError.invalid("discovery info has at most \(DiscoveryInfo.longest) bytes")
        }
    }
}

extension DiscoveredPeer {
    /// The information as the application on its side gave it; nil for none.
    package var applicationInfo: [String: String]? { AdvertisedInfo.entries(of: info) }
}

extension Duration {
    /// The timeout of an invitation: an invalid time stands for 30 seconds, and the native API allows 1 to 600.
    package init(invitationTimeout seconds: TimeInterval) {
        self = seconds > 0 ? .seconds(min(max(seconds, 1), 600)) : .seconds(30)
    }
}

extension MCError {
    /// Returns the error for an invalid argument.
    static func invalid(_ what: some CustomStringConvertible) -> MCError {
        MCError(.invalidParameter, what.description)
    }
}

/// The longest context of an invitation, in bytes.
let longestInvitationContext = Limits.invitationContext
