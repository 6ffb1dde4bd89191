public import Foundation
public import Multipeer

/// Makes the local peer known to those who browse for a service type, and takes their invitations.
///
/// ```swift
/// let advertiser = MCNearbyServiceAdvertiser(
///     peer: me, discoveryInfo: ["room": "kitchen"], serviceType: "chat")
/// advertiser.delegate = delegate
/// advertiser.startAdvertisingPeer()
/// ```
///
/// Everything of it may be called from any thread and from inside its delegate's calls, and nothing waits for the network.
/// Letting go of it stops it. Everybody on the network can read the peer's name and the discovery info.
open class MCNearbyServiceAdvertiser: NSObject {
    private var core: AdvertiserCore
    private let peer: MCPeerID
    private let info: [String: String]?
    private let type: String

    /// An advertiser that does nothing yet.
    ///
    /// A service type has 1 to 15 characters, letters, digits and hyphens, one letter at least, and no hyphen that is
    /// first, last or next to another; capital letters count as small ones. Of the discovery info each entry has at most 255
    /// bytes, all of them 400, and keys are printable ASCII without `=`. Anything else ends the process, as it does with
    /// Apple's framework; `validate` and `init(validatingPeer:discoveryInfo:serviceType:)` throw.
    public init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String) {
        peer = myPeerID
        self.info = info
        type = serviceType
        core = AdvertiserCore(
            myPeerID.id, DiscoveryInfo(info, for: "MCNearbyServiceAdvertiser"),
            ServiceType(serviceType, for: "MCNearbyServiceAdvertiser"), .standard)
        super.init()
        core.attach(self)
    }

    /// The same on the interfaces that the native API's configuration says; not in Apple's framework.
    public convenience init(
        peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String,
        configuration: DiscoveryConfiguration
    ) {
        self.init(peer: myPeerID, discoveryInfo: info, serviceType: serviceType)
        core = core.with(configuration)
        core.attach(self)
    }

    /// The same as Apple's, and throws `MCError.invalidParameter` for what that does not allow.
    public convenience init(
        validatingPeer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String
    ) throws {
        try MCNearbyServiceAdvertiser.validate(serviceType: serviceType, discoveryInfo: info)
        self.init(peer: myPeerID, discoveryInfo: info, serviceType: serviceType)
    }

    /// Throws `MCError.invalidParameter`, with a text that says why, for what cannot be advertised.
    public static func validate(serviceType: String, discoveryInfo: [String: String]? = nil) throws {
        do {
            _ = try ServiceType(tolerant: serviceType)
            _ = try DiscoveryInfo(discoveryInfo, escaped: ())
        } catch {
            throw MCError.invalid("\(error)")
        }
    }

    deinit { core.runs.stop() }

    /// Makes the peer known, and listens for invitations. Does nothing while it runs.
    ///
    /// Nothing is told before this has returned. When it cannot be done the delegate hears why, and it may be tried again.
    open func startAdvertisingPeer() { core.start() }

    /// Says that the peer is gone. Invitations that are not answered end; those that were accepted go on.
    open func stopAdvertisingPeer() { core.runs.stop() }

    /// Who is asked about invitations. It is not kept alive. Without one they are declined.
    open weak var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Whom it makes known.
    open var myPeerID: MCPeerID { peer }

    /// What it tells besides.
    open var discoveryInfo: [String: String]? { info }

    /// Under what, as it was given.
    open var serviceType: String { type }
}

/// What an advertiser tells, on a private serial queue of its own, never on the main one.
public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
    /// Somebody invites the local peer. The context is what a stranger says, up to 32 KiB.
    ///
    /// The handler may be called later, from any thread; the first call counts. `true` with a session of the local peer
    /// accepts: that session's delegate hears `.connecting` and `.connected`, or `.notConnected`, which is also what it hears
    /// when nobody waits for the answer any more. Anything else declines. Without a call the invitation ends with its
    /// timeout.
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void)

    /// Advertising could not be started; it is an `MCError`. Optional.
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

extension MCNearbyServiceAdvertiserDelegate {
    /// Does nothing.
    public func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {}
}
