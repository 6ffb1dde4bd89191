import MultipeerCore
import MultipeerPlatform
public import MultipeerSecurity

/// The interfaces and the settings of discovery.
///
/// A value outside its range is rejected when something is started with it.
public struct DiscoveryConfiguration: Sendable {
    /// The interfaces of this machine that take part.
    public enum Interfaces: Hashable, Sendable {
        /// Every interface that is up and carries multicast, other than loopback and point-to-point ones. The environment
        /// variable `MULTIPEER_INTERFACES`, names separated by commas, replaces this where it is set.
        case all
        /// Only the loopback interface: nothing leaves the machine.
        case loopback
        /// The interfaces with these names, all of which must exist; `lo` may be among them.
        case only([String])
    }

    /// A version of the Internet protocol.
    public enum Family: Hashable, Sendable {
        case v4, v6
    }

    /// The interfaces that take part; default all.
    public var interfaces: Interfaces
    /// How long other peers consider a peer present without receiving anything from it, 10 to 120 seconds; default 120.
    ///
    /// A peer that ends without a goodbye, by `kill -9` or by a power failure, stays visible for that long.
    public var hostTTL: Duration
    /// Whether an advertiser or a browser starts where no interface carries multicast, or the port of multicast DNS is taken, and
    /// waits for that to change; default false, with which its `start` throws. An advertiser listens meanwhile:
    /// `Browser.invite(at:to:)` reaches it. `Advertiser.discoveryError` says what is missing.
    public var waitsForConnectivity: Bool
    /// The TCP port at which an advertiser receives invitations, so that a firewall can allow it; nil or 0, the default, lets the
    /// system choose. With the number of `Session.Configuration.port` it shares the port of that session. No other advertiser of
    /// the process can have it at the same time; if it is in use, `Advertiser.start` throws `system`.
    public var port: UInt16?
    /// Replaces `port`.
    package var sharedPort: SharedPort?
    /// Replaces the addresses at which an advertiser listens.
    package var invitationAddresses: [SocketAddress]?
    /// IPv4, IPv6, or both, the default. The loopback interface has IPv4 only.
    public var families: Set<Family>
    /// The backend that announces and finds peers; nil is multicast DNS, shared by all users in the process that configure it
    /// alike.
    package var backend: (any DiscoveryBackend)?
    /// Receives the secrets of invitations for a protocol analyser, in the format of `SSLKEYLOGFILE`; nil logs none, except that
    /// invitations into a session go to the session's key log. Anyone who reads them can read the traffic.
    public var keyLog: KeyLog?
    /// The simulated machine whose peers are announced and found; nil is this one.
    package var host: VirtualHost?

    /// Creates a configuration of multicast DNS on these interfaces, by default all.
    public init(interfaces: Interfaces = .all) {
        self.interfaces = interfaces
        hostTTL = .seconds(120)
        families = [.v4, .v6]
        waitsForConnectivity = false
        port = nil
        backend = nil
        keyLog = nil
    }

    /// Multicast DNS on every interface, or on those that the environment variable `MULTIPEER_INTERFACES` names.
    public static var standard: DiscoveryConfiguration { DiscoveryConfiguration() }

    /// Multicast DNS on the loopback interface only.
    public static var loopback: DiscoveryConfiguration { DiscoveryConfiguration(interfaces: .loopback) }

    /// A network inside this process, for tests: only peers that use the same object find each other.
    public static func inMemory(_ network: InMemoryDiscovery) -> DiscoveryConfiguration {
        var configuration = DiscoveryConfiguration()
        configuration.backend = network
        return configuration
    }
}

extension DiscoveryConfiguration {
    /// The environment variable that replaces `.all`.
    package static let variable = "MULTIPEER_INTERFACES"

    /// Returns the backend for these settings.
    package func chosenBackend() throws(MultipeerError) -> any DiscoveryBackend {
        if let backend { return backend }
        if let host {
            guard host.isAlive else {
                throw .killed(host)
            }
            return try MulticastDiscovery.running(on: host, for: self)
        }
        #if SystemDiscovery
            return try SystemDiscovery.shared(for: self)
        #else
            return try MulticastDiscovery.shared(for: self)
        #endif
    }

    /// Where an advertiser listens.
    package var listeningAddresses: [SocketAddress] { invitationAddresses ?? listenAddresses }

    /// The port at which it listens; nil when the system chooses one.
    package var chosenPort: SharedPort? { sharedPort ?? SharedPort.named(port) }

    /// Returns the interfaces after applying the environment variable, whose value is `text`.
    package func interfaces(named text: String?) -> Interfaces {
        guard interfaces == .all, let text else { return interfaces }
        let names = text.pieces(at: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
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
                throw MultipeerError(.invalidArgument, "neither IPv4 nor IPv6 is enabled")
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

/// The settings that decide whether two users of multicast DNS share one: all of them but the backend, in canonical form.
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

extension MultipeerError {
    /// Discovery on a simulated machine that has ended.
    static func killed(_ host: VirtualHost) -> MultipeerError {
        MultipeerError(.discovery, "the machine \(host.name) was killed")
    }
}
