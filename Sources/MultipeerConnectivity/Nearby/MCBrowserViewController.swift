public import Foundation

/// Who is nearby, for a user who chooses whom to invite into a session.
///
/// On Apple's systems it is a window. Here it is what such a window shows and does, without one: a list of `nearbyPeers`
/// that changes, `invite`, `done` and `cancel`. The command line's `multipeer invite` is a view of it at the terminal.
///
/// ```swift
/// let controller = MCBrowserViewController(serviceType: "chat", session: session)
/// controller.delegate = delegate
/// controller.onChange = { show(controller.nearbyPeers) }
/// controller.start()                  // where Apple's is presented
/// ```
///
/// It belongs to the main actor, and so needs a program whose main queue runs.
@MainActor
open class MCBrowserViewController: NSObject {
    /// Called after every change of what there is to show.
    public var onChange: (@MainActor () -> Void)?

    /// Who hears how it ends. It is not kept alive.
    open weak var delegate: (any MCBrowserViewControllerDelegate)?

    /// What finds the peers. Its delegate is this object.
    open var browser: MCNearbyServiceBrowser? { finder }

    /// What peers are invited into.
    open var session: MCSession { owned }

    /// How many peers there have to be before `done` does anything, the local one included: 2 to 8; 2 unless set. A number
    /// outside counts as the nearest inside.
    open var minimumNumberOfPeers: Int {
        get { least }
        set {
            least = MCBrowserViewController.clamped(newValue)
            changed()
        }
    }

    /// How many peers there may be, the local one included: 2 to 8; 8 unless set. A number outside counts as the nearest
    /// inside. When so many are connected or invited, `invite` does nothing.
    open var maximumNumberOfPeers: Int {
        get { most }
        set {
            most = MCBrowserViewController.clamped(newValue)
            changed()
        }
    }

    /// Why nobody can be found, an `MCError`; nil when nothing is wrong.
    public private(set) var failure: (any Error)?

    private let finder: MCNearbyServiceBrowser
    private let owned: MCSession
    private var least = kMCSessionMinimumNumberOfPeers
    private var most = kMCSessionMaximumNumberOfPeers
    private var list = NearbyList()
    private var watch: SessionWatch?

    /// Looks for peers of a service type, as the session's own peer.
    public convenience init(serviceType: String, session: MCSession) {
        self.init(
            browser: MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: serviceType),
            session: session)
    }

    /// The same with a browser of the app's, which may be a subclass that finds peers in its own way. Its delegate is this
    /// object from now on.
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
    /// Who is to be shown: those who are nearby, or connected, in the order in which they came.
    public var nearbyPeers: [MCNearbyPeer] { list.peers }

    /// Whether enough peers are connected for `done`.
    public var canFinish: Bool { owned.connectedPeers.count + 1 >= least }

    /// Whether one more peer may be invited.
    public var canInvite: Bool { list.takenPlaces + 1 < most }

    /// Starts to look: what Apple's does when it is presented.
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

    /// Looks no more, and forgets everybody: what Apple's does when it is dismissed.
    public func stop() {
        finder.stopBrowsingForPeers()
        watch = nil
        list = NearbyList()
        changed()
    }

    /// Invites one of `nearbyPeers`, for 30 seconds. Returns false, and does nothing, when it is not among them, when it is
    /// connected or invited already, and when there is no place left.
    @discardableResult
    public func invite(_ peerID: MCPeerID) -> Bool {
        guard canInvite, list.invite(peerID) else { return false }
        finder.invitePeer(peerID, to: owned, withContext: nil, timeout: 30)
        changed()
        return true
    }

    /// The user has finished: stops, and tells the delegate. Returns false, and does nothing, when fewer peers than
    /// `minimumNumberOfPeers` are there.
    @discardableResult
    public func done() -> Bool {
        guard canFinish else { return false }
        stop()
        delegate?.browserViewControllerDidFinish(self)
        return true
    }

    /// The user wants none of it: stops, and tells the delegate. Who is connected stays connected.
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

// MARK: what its browser tells

extension MCBrowserViewController: MCNearbyServiceBrowserDelegate {
    /// A peer is there: it is shown unless the delegate does not want it.
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

    /// A peer is gone: it is shown as long as it is connected.
    nonisolated public func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        onMain { [self] in
            guard watch != nil else { return }
            list.lose(peerID)
            changed()
        }
    }

    /// Nobody can be found.
    nonisolated public func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        onMain { [self] in
            failure = error
            changed()
        }
    }
}

/// What a browser controller tells, on the main actor.
public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
    /// The user has finished: the session is ready.
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)

    /// The user wants none of it.
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)

    /// Whether the user gets to see a peer that was found. Optional: everybody is shown.
    func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool
}

extension MCBrowserViewControllerDelegate {
    /// Shows everybody.
    public func browserViewController(
        _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) -> Bool { true }
}

/// On the main actor, in the order of the calls.
private func onMain(_ body: @escaping @MainActor () -> Void) {
    DispatchQueue.main.async { MainActor.assumeIsolated { body() } }
}
