import Foundation
import Multipeer
import MultipeerDiscovery
import MultipeerFraming
import MultipeerTransport

// The arguments of applications, translated to the native API.

extension ServiceType {
    /// Creates the type that an application means: capital letters are lower-cased, as on the network.
    init(tolerant text: String) throws(InvalidServiceType) { try self.init(parsing: text.lowercased()) }

    /// Creates it, and ends the process when the text is not valid.
    init(_ text: String, for caller: StaticString) {
        do throws(InvalidServiceType) { try self.init(tolerant: text) } catch {
            preconditionFailure("\(caller): serviceType \(text.debugDescription): \(error)")
        }
    }
}

extension DiscoveryInfo {
    /// Creates the advertised information of an application. Keys that the protocol reserves are prefixed with a `~`, and so are
    /// those that have one.
    init(_ info: [String: String]?, escaped: Void) throws(InvalidDiscoveryInfo) {
        var entries: [String: String] = [:]
        for (key, value) in info ?? [:] { entries[DiscoveryInfo.escape(key)] = value }
        try self.init(validating: entries)
    }

    /// Creates it, and ends the process when it cannot be advertised.
    init(_ info: [String: String]?, for caller: StaticString) {
        do throws(InvalidDiscoveryInfo) { try self.init(info, escaped: ()) } catch {
            preconditionFailure("\(caller): discoveryInfo: \(error)")
        }
    }

    private static let mark: Character = "~"

    private static func escape(_ key: String) -> String {
        ["n", "mpc"].contains(key.lowercased()) || key.first == mark ? "\(mark)\(key)" : key
    }
}

extension DiscoveredPeer {
    /// The information as the application on its side gave it; nil for none.
    var discoveryInfo: [String: String]? {
        if info.isEmpty { return nil }
        return Dictionary(
            info.map { ($0.key.first == "~" ? String($0.key.dropFirst()) : $0.key, $0.value) },
            uniquingKeysWith: { one, _ in one })
    }
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
