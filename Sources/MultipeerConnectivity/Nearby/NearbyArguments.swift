import Foundation
import Multipeer
import MultipeerDiscovery
import MultipeerFraming
import MultipeerTransport

// What applications say about whom they look for, in the words of the native API.

extension ServiceType {
    /// The type that an application means: capital letters are small ones, which is what they are on the network.
    init(tolerant text: String) throws(InvalidServiceType) { try self.init(text.lowercased()) }

    /// The same, and ends the process when that is none.
    init(_ text: String, for caller: StaticString) {
        do throws(InvalidServiceType) { try self.init(tolerant: text) } catch {
            preconditionFailure("\(caller): serviceType \(text.debugDescription): \(error)")
        }
    }
}

extension DiscoveryInfo {
    /// What is advertised for an application. The keys that the protocol has for itself get a `~` in front, and so do those
    /// that have one.
    init(_ info: [String: String]?, escaped: Void) throws(InvalidDiscoveryInfo) {
        var entries: [String: String] = [:]
        for (key, value) in info ?? [:] { entries[DiscoveryInfo.escape(key)] = value }
        try self.init(entries)
    }

    /// The same, and ends the process when it cannot be advertised.
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
    /// What it says about itself as the application on its side said it; nil for nothing.
    var discoveryInfo: [String: String]? {
        if info.isEmpty { return nil }
        return Dictionary(
            info.map { ($0.key.first == "~" ? String($0.key.dropFirst()) : $0.key, $0.value) },
            uniquingKeysWith: { one, _ in one })
    }
}

extension Duration {
    /// How long an invitation lasts: what is no time at all stands for 30 seconds, and the native API allows 1 to 600.
    package init(invitationTimeout seconds: TimeInterval) {
        self = seconds > 0 ? .seconds(min(max(seconds, 1), 600)) : .seconds(30)
    }
}

extension MCError {
    /// Says that an argument does not fit.
    static func invalid(_ what: some CustomStringConvertible) -> MCError {
        MCError(.invalidParameter, what.description)
    }
}

/// The longest context of an invitation, in bytes.
let longestInvitationContext = Limits.invitationContext
