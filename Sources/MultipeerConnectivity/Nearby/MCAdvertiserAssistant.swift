public import Foundation
public import Multipeer

/// Makes the local peer known, and asks the user about each invitation: whoever is let in is connected in the session.
///
/// On Apple's systems it shows an alert. Here it asks through its `presenter`, at the terminal unless another is set.
/// Letting go of it stops it.
open class MCAdvertiserAssistant: NSObject {
    private var core: AssistantCore
    private let type: String
    private let info: [String: String]?
    private let owned: MCSession

    /// An assistant that does nothing yet. What `MCNearbyServiceAdvertiser` does not allow ends the process here, too.
    public init(serviceType: String, discoveryInfo info: [String: String]?, session: MCSession) {
        type = serviceType
        self.info = info
        owned = session
        core = AssistantCore(
            session.core, DiscoveryInfo(info, for: "MCAdvertiserAssistant"),
            ServiceType(serviceType, for: "MCAdvertiserAssistant"), .standard)
        super.init()
        core.attach(self)
    }

    /// The same on the interfaces that the native API's configuration says; not in Apple's framework.
    public convenience init(
        serviceType: String, discoveryInfo info: [String: String]?, session: MCSession,
        configuration: DiscoveryConfiguration
    ) {
        self.init(serviceType: serviceType, discoveryInfo: info, session: session)
        core = core.with(configuration)
        core.attach(self)
    }

    deinit { core.runs.stop() }

    /// Makes the peer known, and asks about who invites it, one after the other. Does nothing while it runs.
    ///
    /// When it cannot be done nothing happens, as Apple's has no way to say so; it may be tried again. `failure` says why.
    open func start() { core.start() }

    /// Says that the peer is gone, and takes the question away that is being asked.
    open func stop() { core.runs.stop() }

    /// Stops, and returns once the goodbyes have been said: for a process that ends then.
    package func end() async {
        stop()
        await core.runs.rest()
    }

    /// Why the last start came to nothing, an `MCError`; nil when it did not. Not in Apple's framework.
    public var failure: (any Error)? { core.failure }

    /// How the user is asked; at the terminal unless set. Not in Apple's framework.
    public var presenter: any MCInvitationPresenter {
        get { core.presenter }
        set { core.presenter = newValue }
    }

    /// Who hears when the user is asked. It is not kept alive.
    open weak var delegate: (any MCAdvertiserAssistantDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// What those who are let in are connected in.
    open var session: MCSession { owned }

    /// What is told besides.
    open var discoveryInfo: [String: String]? { info }

    /// Under what the peer is known, as it was given.
    open var serviceType: String { type }
}

/// What an assistant tells, on a private serial queue of its own, never on the main one. All of it is optional.
public protocol MCAdvertiserAssistantDelegate: NSObjectProtocol {
    /// The user is about to be asked.
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant)

    /// The user has answered, or nobody waits for that any more.
    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
}

extension MCAdvertiserAssistantDelegate {
    /// Does nothing.
    public func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}

    /// Does nothing.
    public func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
}
