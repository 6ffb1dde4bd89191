public import Dispatch
public import Foundation
public import Multipeer

/// Advertises the local peer, and asks the user about each invitation: an accepted peer is connected in the session.
///
/// On Apple's systems it shows an alert. Here it asks through its `presenter`, by default at the terminal. Releasing it stops it.
open class MCAdvertiserAssistant: NSObject {
    private var core: AssistantCore
    private let type: String
    private let info: [String: String]?
    private let owned: MCSession

    /// Creates an assistant that is not running yet, with the arguments of an `MCNearbyServiceAdvertiser`.
    public init(serviceType: String, discoveryInfo info: [String: String]?, session: MCSession) {
        type = serviceType
        self.info = info
        owned = session
        core = AssistantCore(
            session.core, DiscoveryInfo(info, for: "MCAdvertiserAssistant"),
            ServiceType.of(serviceType, for: "MCAdvertiserAssistant"), .standard)
        super.init()
        core.attach(self)
    }

    /// Creates an assistant on the interfaces of a configuration of the native API; not in Apple's framework.
    public convenience init(
        serviceType: String, discoveryInfo info: [String: String]?, session: MCSession,
        configuration: DiscoveryConfiguration
    ) {
        self.init(serviceType: serviceType, discoveryInfo: info, session: session)
        core = core.with(configuration)
        core.attach(self)
    }

    deinit { core.runs.stop() }

    /// Advertises the peer, and asks about its inviters, one after the other. Does nothing while it runs.
    ///
    /// A failure has no effect, as Apple's class has no way to report it; you may try again. `failure` has the reason.
    open func start() { core.start() }

    /// Announces that the peer is gone, and removes the present question.
    open func stop() { core.runs.stop() }

    /// Stops, and returns once the goodbyes have been sent: for a process that exits then.
    package func end() async {
        stop()
        await core.runs.rest()
    }

    /// Why the last start failed, an `MCError`; nil when it did not. Not in Apple's framework.
    public var failure: (any Error)? { core.failure }

    /// The presenter that asks the user; default: the terminal. Not in Apple's framework.
    public var presenter: any MCInvitationPresenter {
        get { core.presenter }
        set { core.presenter = newValue }
    }

    /// The delegate, which is notified when the user is asked. It is not kept alive.
    open weak var delegate: (any MCAdvertiserAssistantDelegate)? {
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

    /// The session in which accepted peers are connected.
    open var session: MCSession { owned }

    /// The additional information that is advertised.
    open var discoveryInfo: [String: String]? { info }

    /// The service type under which the peer is advertised, as it was given.
    open var serviceType: String { type }
}

/// The delegate of an assistant, called on the assistant's `delegateCallQueue`: on the main queue, unless that is set. All methods
/// are optional.
public protocol MCAdvertiserAssistantDelegate: NSObjectProtocol {
    /// The user is about to be asked.
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant)

    /// The user has answered, or the answer is no longer needed.
    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
}

extension MCAdvertiserAssistantDelegate {
    /// Does nothing.
    public func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}

    /// Does nothing.
    public func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
}
