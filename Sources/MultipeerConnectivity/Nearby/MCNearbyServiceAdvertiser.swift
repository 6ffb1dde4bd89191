public import Dispatch
public import Foundation
public import Multipeer

/// Advertises the local peer under a service type, and receives invitations from other peers.
///
/// ```swift
/// let advertiser = MCNearbyServiceAdvertiser(
///     peer: me, discoveryInfo: ["room": "kitchen"], serviceType: "chat")
/// advertiser.delegate = delegate
/// advertiser.startAdvertisingPeer()
/// ```
///
/// All its methods may be called from any thread and from inside delegate calls, and none waits for the network. Releasing it
/// stops it. Everyone on the network can read the peer's name and the discovery info.
open class MCNearbyServiceAdvertiser: NSObject {
    private var core: AdvertiserCore
    private let peer: MCPeerID
    private let info: [String: String]?
    private let type: String

    /// Creates an advertiser that is not running yet.
    ///
    /// A service type has 1 to 15 characters: letters, digits and hyphens, at least one letter, and no hyphen that is first, last
    /// or next to another; capital letters count as small ones. With any other one the start fails, where Apple's framework ends
    /// the process.
    ///
    /// The discovery info may be any dictionary; all of it together has about 1,200 bytes. Entries are taken in the order of their
    /// keys, and those without room are left out, which a line on standard error says. Others than browsers of this framework
    /// see only entries whose keys have 1 to 64 printable ASCII characters. `validate` and
    /// `init(validatingPeer:discoveryInfo:serviceType:)` throw for what Apple does not allow, and for what does not fit.
    public init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String) {
        peer = myPeerID
        self.info = info
        type = serviceType
        core = AdvertiserCore(
            myPeerID.id, DiscoveryInfo(info, for: "MCNearbyServiceAdvertiser"),
            ServiceType.of(serviceType, for: "MCNearbyServiceAdvertiser"), .standard)
        super.init()
        core.attach(self)
    }

    /// Creates an advertiser on the interfaces of a configuration of the native API; not in Apple's framework.
    public convenience init(
        peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String,
        configuration: DiscoveryConfiguration
    ) {
        self.init(peer: myPeerID, discoveryInfo: info, serviceType: serviceType)
        core = core.with(configuration)
        core.attach(self)
    }

    /// Creates an advertiser, and throws `MCError.invalidParameter` for arguments that Apple's initialiser does not allow.
    public convenience init(
        validatingPeer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String
    ) throws {
        try MCNearbyServiceAdvertiser.validate(serviceType: serviceType, discoveryInfo: info)
        self.init(peer: myPeerID, discoveryInfo: info, serviceType: serviceType)
    }

    /// Throws `MCError.invalidParameter`, with a text that has the reason, for arguments that Apple does not allow, and for
    /// discovery info that does not fit.
    public static func validate(serviceType: String, discoveryInfo: [String: String]? = nil) throws {
        do { _ = try ServiceType(tolerant: serviceType) } catch { throw MCError.invalid("\(error)") }
        try DiscoveryInfo.check(discoveryInfo)
    }

    deinit { core.runs.stop() }

    /// Advertises the peer, and listens for invitations. Does nothing while it runs.
    ///
    /// The delegate is not called before this has returned. If it fails the delegate receives the reason, and you may try again.
    open func startAdvertisingPeer() { core.start() }

    /// Announces that the peer is gone. Invitations that the delegate has received can still be answered; others end.
    open func stopAdvertisingPeer() { core.runs.stop() }

    /// The delegate that is asked about invitations. It is not kept alive. Without one they are declined.
    open weak var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The queue on which the delegate is called, one call after the other: by default the main queue, as Apple's framework does
    /// in practice. nil is a private queue, for a program whose main queue does not run. Set it before the start. Not in
    /// Apple's framework.
    public var delegateCallQueue: DispatchQueue? {
        get { core.runs.callbacks.target }
        set { core.runs.callbacks.target = newValue }
    }

    /// The advertised peer.
    open var myPeerID: MCPeerID { peer }

    /// The additional information that is advertised.
    open var discoveryInfo: [String: String]? { info }

    /// The service type under which the peer is advertised, as it was given.
    open var serviceType: String { type }
}

/// The delegate of an advertiser, called on the advertiser's `delegateCallQueue`: on the main queue, unless that is set.
public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
    /// Another peer invites the local one. The context comes from an unauthenticated peer, up to 32 KiB.
    ///
    /// The handler may be called later, from any thread; the first call counts. `true` with a session of the local peer accepts:
    /// that session's delegate receives `.connecting` and `.connected`, or `.notConnected`, also when the answer is no longer
    /// expected. Anything else declines. Without a call the invitation ends with its timeout.
    @preconcurrency
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void)

    /// Advertising could not be started; `error` is an `MCError`. Optional.
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

extension MCNearbyServiceAdvertiserDelegate {
    /// Does nothing.
    public func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {}
}
