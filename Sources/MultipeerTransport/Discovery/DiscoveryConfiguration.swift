import Glibc
import MultipeerCore
public import MultipeerSecurity

/// On which interfaces peers are announced and looked for, and how.
///
/// What is outside its range here is refused when something is started with it.
public struct DiscoveryConfiguration: Sendable {
    /// Which interfaces of this machine take part.
    public enum Interfaces: Hashable, Sendable {
        /// Every interface that is up and carries multicast, other than loopback and point-to-point ones. The environment
        /// variable `MULTIPEER_INTERFACES`, names with commas between them, takes its place where it is set.
        case all
        /// The loopback interface alone: nothing leaves the machine.
        case loopback
        /// Those of these names, which must be there, and `lo` may be among them.
        case only([String])
    }

    /// A version of the Internet protocol.
    public enum Family: Hashable, Sendable {
        case v4, v6
    }

    /// Which interfaces take part; all unless set.
    public var interfaces: Interfaces
    /// How long others believe that a peer is there without hearing of it, 10 to 120 seconds; 120 unless set.
    ///
    /// One that ends without a word, by `kill -9` or by pulling the plug, is seen for so long.
    public var hostTTL: Duration
    /// IPv4, IPv6, or both, as it is unless set. The loopback interface has IPv4 alone.
    public var families: Set<Family>
    /// Who announces and finds; nil is multicast DNS, shared by all of the process that configure it alike.
    public var backend: (any DiscoveryBackend)?
    /// Where the secrets of invitations are written for a protocol analyser, in the format of `SSLKEYLOGFILE`; nil writes
    /// none, but what is invited into a session goes to that one's key log. Whoever reads them reads the traffic.
    public var keyLog: KeyLog?
    /// The simulated machine whose peers are announced and found; nil is this one.
    package var host: VirtualHost?

    /// Multicast DNS on these interfaces, or on all.
    public init(interfaces: Interfaces = .all) {
        self.interfaces = interfaces
        hostTTL = .seconds(120)
        families = [.v4, .v6]
        backend = nil
        keyLog = nil
    }

    /// Multicast DNS on every interface, or on those that the environment variable `MULTIPEER_INTERFACES` names.
    public static var standard: DiscoveryConfiguration { DiscoveryConfiguration() }

    /// The same on the loopback interface alone.
    public static var loopback: DiscoveryConfiguration { DiscoveryConfiguration(interfaces: .loopback) }
}

extension DiscoveryConfiguration {
    /// The environment variable that takes the place of `.all`.
    package static let variable = "MULTIPEER_INTERFACES"

    /// Who announces and finds with these settings.
    package func chosenBackend() throws(MultipeerError) -> any DiscoveryBackend {
        if let backend { return backend }
        return try MulticastDiscovery.shared(for: self)
    }

    /// The interfaces after a look at the environment, whose names `text` stands for.
    package func interfaces(named text: String?) -> Interfaces {
        guard interfaces == .all, let text else { return interfaces }
        let names = text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        return names.isEmpty ? .all : .only(names)
    }

    package var settings: MulticastSettings {
        get throws(MultipeerError) {
            let text = unsafe getenv(DiscoveryConfiguration.variable).map { unsafe String(cString: $0) }
            let chosen = interfaces(named: text)
            if case .only(let names) = chosen, names.isEmpty {
                throw MultipeerError(.invalidArgument, "the list of interfaces is empty")
            }
            if families.isEmpty {
                throw MultipeerError(.invalidArgument, "neither IPv4 nor IPv6 is wanted")
            }
            guard (.seconds(10))...(.seconds(120)) ~= hostTTL else {
                throw MultipeerError(.invalidArgument, "hostTTL is 10 to 120 seconds")
            }
            return MulticastSettings(
                interfaces: chosen == .only(["lo"]) ? .loopback : chosen,
                hostTTL: UInt32(clamping: hostTTL.wholeNanoseconds / 1_000_000_000), families: families)
        }
    }
}

/// What makes two users of multicast DNS share one: all of it but the backend, in the form that decides.
package struct MulticastSettings: Hashable, Sendable {
    package let interfaces: DiscoveryConfiguration.Interfaces
    /// In seconds.
    package let hostTTL: UInt32
    package let families: Set<DiscoveryConfiguration.Family>

    package init(
        interfaces: DiscoveryConfiguration.Interfaces, hostTTL: UInt32,
        families: Set<DiscoveryConfiguration.Family>
    ) {
        (self.interfaces, self.hostTTL, self.families) = (interfaces, hostTTL, families)
    }
}
