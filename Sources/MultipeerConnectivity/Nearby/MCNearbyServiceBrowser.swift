public import Dispatch
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
/// All its methods may be called from any thread and from inside delegate calls, and none waits for the network. Releasing it
/// stops it; invitations go on.
open class MCNearbyServiceBrowser: NSObject {
    private var core: BrowserCore
    private let peer: MCPeerID
    private let type: String

    /// Creates a browser that is not running yet.
    ///
    /// The service type is that of the advertisers. With one that breaks its rules the start fails, where Apple's framework ends
    /// the process; `validate` and `init(validatingPeer:serviceType:)` throw.
    public init(peer myPeerID: MCPeerID, serviceType: String) {
        peer = myPeerID
        type = serviceType
        core = BrowserCore(
            myPeerID.id, ServiceType.of(serviceType, for: "MCNearbyServiceBrowser"), .standard)
        super.init()
        core.attach(self)
    }

    /// Creates a browser on the interfaces of a configuration of the native API; not in Apple's framework.
    public convenience init(
        peer myPeerID: MCPeerID, serviceType: String, configuration: DiscoveryConfiguration
    ) {
        self.init(peer: myPeerID, serviceType: serviceType)
        core = core.with(configuration)
        core.attach(self)
    }

    /// Creates a browser, and throws `MCError.invalidParameter` for a service type that breaks the rules.
    public convenience init(validatingPeer myPeerID: MCPeerID, serviceType: String) throws {
        try MCNearbyServiceBrowser.validate(serviceType: serviceType)
        self.init(peer: myPeerID, serviceType: serviceType)
    }

    /// Throws `MCError.invalidParameter`, with a text that has the reason, for a service type that breaks the rules.
    public static func validate(serviceType: String) throws {
        try MCNearbyServiceAdvertiser.validate(serviceType: serviceType)
    }

    deinit { core.runs.stop() }

    /// Starts browsing. Does nothing while it runs; after a stop it reports again every peer that is visible.
    ///
    /// The delegate is not called before this has returned. If it fails the delegate receives the reason, and you may try again.
    open func startBrowsingForPeers() { core.start() }

    /// Stops browsing; reports nothing after that. Invitations continue.
    open func stopBrowsingForPeers() { core.runs.stop() }

    /// Invites a discovered peer, and returns at once. Two peers that invite each other at once are connected once.
    ///
    /// The session's delegate receives `.connecting` and `.connected`; or `.notConnected`, once, when the peer declines, does not
    /// answer in time or cannot be reached, when there is no room left, when the session belongs to another peer than the
    /// browser, and when it is ended by `disconnect`; but not for a peer that is connected, or about to be, by other means.
    /// - Parameters:
    ///   - peerID: the peer to invite.
    ///   - session: the session to connect it in.
    ///   - context: data for its application, which any host that impersonates that peer can read, too. With more than 32 KiB
    ///     the invitation fails.
    ///   - timeout: how many seconds to wait for it, 1 to 600: shorter and longer times count as these, and zero, negative
    ///     values, and NaN as 30.
    open func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
    ) {
        if context?.count ?? 0 > longestInvitationContext {
            ConsoleNotices.shared.write(
                once: "MCNearbyServiceBrowser: the context of an invitation has at most 32,768 bytes")
        }
        core.invite(
            peerID.id, to: session.core, context: context.map { [UInt8]($0) },
            timeout: Duration(invitationTimeout: timeout))
    }

    /// The delegate. It is not kept alive.
    open weak var delegate: (any MCNearbyServiceBrowserDelegate)? {
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

    /// The local peer, which browses and invites. It is never found itself.
    open var myPeerID: MCPeerID { peer }

    /// The service type to browse for, as it was given.
    open var serviceType: String { type }
}

/// The delegate of a browser, called on the browser's `delegateCallQueue`: on the main queue, unless that is set.
public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
    /// A peer was found. `info` is its discovery info; nil for none.
    ///
    /// A peer that was reported is not reported again before it was lost; one whose info changes is lost and found.
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?)

    /// A peer was lost: at once when it says goodbye, otherwise after up to two minutes. Connections stay.
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)

    /// Browsing could not be started; `error` is an `MCError`. Optional.
    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

extension MCNearbyServiceBrowserDelegate {
    /// Does nothing.
    public func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
}
