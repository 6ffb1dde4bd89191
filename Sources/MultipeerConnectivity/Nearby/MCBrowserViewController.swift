public import Foundation

/// The nearby peers, for a user who chooses which to invite into a session.
///
/// On Apple's systems it is a window. Here it is the model of such a window: a list of `nearbyPeers` that changes, `invite`,
/// `done` and `cancel`. The command line's `multipeer invite` is a view of it at the terminal.
///
/// ```swift
/// let controller = MCBrowserViewController(serviceType: "chat", session: session)
/// controller.delegate = delegate
/// controller.onChange = { show(controller.nearbyPeers) }
/// controller.start()                  // instead of presenting Apple's controller
/// ```
///
/// It belongs to the main actor, and so needs a program whose main queue runs. Swift 5 code may use it on the main thread without
/// being isolated there, as it may use a view controller of UIKit.
@preconcurrency @MainActor
open class MCBrowserViewController: NSObject {
    /// Called after every change of the displayed data.
    public var onChange: (@MainActor () -> Void)?

    /// The delegate, which is notified of the result. It is not kept alive.
    open weak var delegate: (any MCBrowserViewControllerDelegate)?

    /// The browser that finds the peers. Its delegate is this object.
    open var browser: MCNearbyServiceBrowser? { finder }

    /// The session into which peers are invited.
    open var session: MCSession { owned }

    /// How many peers `done` requires, including the local one: 2 to 8; default 2. A number outside counts as the nearest inside.
    open var minimumNumberOfPeers: Int {
        get { least }
        set {
            least = MCBrowserViewController.clamped(newValue)
            changed()
        }
    }

    /// The maximum number of peers, including the local one: 2 to 8; default 8. A number outside counts as the nearest inside.
    /// When that many are connected or invited, `invite` does nothing.
    open var maximumNumberOfPeers: Int {
        get { most }
        set {
            most = MCBrowserViewController.clamped(newValue)
            changed()
        }
    }

    /// Why no peer can be found, an `MCError`; nil when nothing is wrong.
    public private(set) var failure: (any Error)?

    private let finder: MCNearbyServiceBrowser
    private let owned: MCSession
    private var least = kMCSessionMinimumNumberOfPeers
    private var most = kMCSessionMaximumNumberOfPeers
    private var list = NearbyList()
    private var watch: SessionWatch?

    /// Creates a controller for peers of a service type, as the session's own peer.
    public convenience init(serviceType: String, session: MCSession) {
        self.init(
            browser: MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: serviceType),
            session: session)
    }

    /// Creates a controller with a browser of the app, which may be a subclass that finds peers in its own way. Its delegate is
    /// this object from now on.
    public init(browser: MCNearbyServiceBrowser, session: MCSession) {
        finder = browser
        owned = session
        super.init()
        browser.delegate = self
    }

    private static func clamped(_ count: Int) -> Int {
        min(max(count, kMCSessionMinimumNumberOfPeers), kMCSessionMaximumNumberOfPeers)
    }
}

extension MCBrowserViewController {
    /// The displayed peers: those that are nearby, or connected, in the order in which they appeared.
    public var nearbyPeers: [MCNearbyPeer] { list.peers }

    /// Whether enough peers are connected for `done`.
    public var canFinish: Bool { owned.connectedPeers.count + 1 >= least }

    /// Whether one more peer may be invited.
    public var canInvite: Bool { list.takenPlaces + 1 < most }

    /// Starts browsing, as Apple's class does when it is presented.
    public func start() {
        failure = nil
        if watch == nil {
            watch = owned.core.watch { [weak self] peer, state in
                onMain { self?.heard(MCPeerID(peer), state) }
            }
            for peer in owned.connectedPeers { list.change(peer, .connected) }
        }
        finder.startBrowsingForPeers()
        changed()
    }

    /// Stops browsing, and forgets every peer, as Apple's class does when it is dismissed.
    public func stop() {
        finder.stopBrowsingForPeers()
        watch = nil
        list = NearbyList()
        changed()
    }

    /// Invites one of `nearbyPeers`, for 30 seconds. Returns false, and does nothing, when it is not among them, when it is
    /// already connected or invited, and when there is no room left.
    @discardableResult
    public func invite(_ peerID: MCPeerID) -> Bool {
        guard canInvite, list.invite(peerID) else { return false }
        finder.invitePeer(peerID, to: owned, withContext: nil, timeout: 30)
        changed()
        return true
    }

    /// Finishes on behalf of the user: stops, and notifies the delegate. Returns false, and does nothing, with fewer peers than
    /// `minimumNumberOfPeers`.
    @discardableResult
    public func done() -> Bool {
        guard canFinish else { return false }
        stop()
        delegate?.browserViewControllerDidFinish(self)
        return true
    }

    /// Cancels on behalf of the user: stops, and notifies the delegate. Connected peers stay connected.
    public func cancel() {
        stop()
        delegate?.browserViewControllerWasCancelled(self)
    }

    private func changed() { onChange?() }

    private func heard(_ peer: MCPeerID, _ state: MCSessionState) {
        guard watch != nil else { return }
        list.change(peer, state)
        changed()
    }
}

// MARK: calls from its browser

extension MCBrowserViewController: MCNearbyServiceBrowserDelegate {
    /// Adds a peer that was found, unless the delegate rejects it.
    nonisolated public func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        onMain { [self] in
            guard watch != nil else { return }
            let isShown = delegate?.browserViewController(
                self, shouldPresentNearbyPeer: peerID, withDiscoveryInfo: info)
            guard isShown ?? true else { return }
            list.add(peerID, info, owned.core.stateOf(peerID.id))
            changed()
        }
    }

    /// Removes a lost peer, unless it is connected.
    nonisolated public func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        onMain { [self] in
            guard watch != nil else { return }
            list.lose(peerID)
            changed()
        }
    }

    /// Browsing has failed.
    nonisolated public func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        onMain { [self] in
            failure = error
            changed()
        }
    }
}

/// The delegate of a browser controller, called on the main actor.
public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
    /// The user has finished: the session is ready.
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)

    /// The user has cancelled.
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)

    /// Returns whether a discovered peer is shown to the user. Optional: by default all are shown.
    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool
}

extension MCBrowserViewControllerDelegate {
    /// Shows every peer.
    public func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool { true }
}

/// On the main actor, in the order of the calls.
private func onMain(_ body: @escaping @MainActor () -> Void) {
    DispatchQueue.main.async { MainActor.assumeIsolated { body() } }
}
