public import Foundation
public import Multipeer

/// Finds the peers that advertise a service type, and invites them into a session.
///
/// ```swift
/// let browser = MCNearbyServiceBrowser(peer: me, serviceType: "chat")
/// browser.delegate = delegate
/// browser.startBrowsingForPeers()
/// // in foundPeer:
/// browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
/// ```
///
/// Everything of it may be called from any thread and from inside its delegate's calls, and nothing waits for the network.
/// Letting go of it stops it; invitations go on.
open class MCNearbyServiceBrowser: NSObject {
    private var core: BrowserCore
    private let peer: MCPeerID
    private let type: String

    /// A browser that does nothing yet.
    ///
    /// The service type is that of the advertisers; one that breaks the rules there ends the process, as it does with
    /// Apple's framework; `validate` and `init(validatingPeer:serviceType:)` throw.
    public init(peer myPeerID: MCPeerID, serviceType: String) {
        peer = myPeerID
        type = serviceType
        core = BrowserCore(myPeerID.id, ServiceType(serviceType, for: "MCNearbyServiceBrowser"), .standard)
        super.init()
        core.attach(self)
    }

    /// The same on the interfaces that the native API's configuration says; not in Apple's framework.
    public convenience init(
        peer myPeerID: MCPeerID, serviceType: String, configuration: DiscoveryConfiguration
    ) {
        self.init(peer: myPeerID, serviceType: serviceType)
        core = core.with(configuration)
        core.attach(self)
    }

    /// The same as Apple's, and throws `MCError.invalidParameter` for a service type that breaks the rules.
    public convenience init(validatingPeer myPeerID: MCPeerID, serviceType: String) throws {
        try MCNearbyServiceBrowser.validate(serviceType: serviceType)
        self.init(peer: myPeerID, serviceType: serviceType)
    }

    /// Throws `MCError.invalidParameter`, with a text that says why, for a service type that breaks the rules.
    public static func validate(serviceType: String) throws {
        try MCNearbyServiceAdvertiser.validate(serviceType: serviceType)
    }

    deinit { core.runs.stop() }

    /// Starts to look. Does nothing while it runs; after a stop it tells again who is there.
    ///
    /// Nothing is told before this has returned. When it cannot be done the delegate hears why, and it may be tried again.
    open func startBrowsingForPeers() { core.start() }

    /// Looks no more, and tells nothing any more. Invitations go on.
    open func stopBrowsingForPeers() { core.runs.stop() }

    /// Invites a peer that was found, and returns at once. Two that invite each other at once are connected once.
    ///
    /// The session's delegate hears `.connecting` and `.connected`; or `.notConnected`, once, when the peer declines, does
    /// not answer in time or cannot be reached, when there is no place left, when the session is of another peer than the
    /// browser, and when it is left with `disconnect`; but not of a peer that is connected, or about to be, by
    /// something else.
    /// - Parameters:
    ///   - peerID: whom.
    ///   - session: what it is to be connected in.
    ///   - context: what its application gets to read, and whoever pretends to be that peer; more than 32 KiB end the process.
    ///   - timeout: how many seconds to wait for it, 1 to 600: what is shorter or longer counts as these, and zero, less, and
    ///     what is no number, as 30.
    open func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
    ) {
        precondition(
            context?.count ?? 0 <= longestInvitationContext,
            "MCNearbyServiceBrowser: an invitation's context has 32,768 bytes at the most")
        core.invite(
            peerID.id, to: session.core, context: context.map { [UInt8]($0) },
            timeout: Duration(invitationTimeout: timeout))
    }

    /// Who hears what is found. It is not kept alive.
    open weak var delegate: (any MCNearbyServiceBrowserDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Who looks, and invites. The own peer is never found.
    open var myPeerID: MCPeerID { peer }

    /// What for, as it was given.
    open var serviceType: String { type }
}

/// What a browser tells, on a private serial queue of its own, never on the main one.
public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
    /// A peer is there. `info` is what it says about itself; nil for nothing.
    ///
    /// A peer that is told once is not told again before it was lost; one that says something else about itself is lost and
    /// found.
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?)

    /// A peer is not there any more: at once when it says so, otherwise after up to two minutes. Connections stay.
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)

    /// Looking could not be started; it is an `MCError`. Optional.
    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

extension MCNearbyServiceBrowserDelegate {
    /// Does nothing.
    public func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
}
