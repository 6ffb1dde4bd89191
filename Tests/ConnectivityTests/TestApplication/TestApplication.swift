import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerHandshake
import MultipeerTransport

/// One device of this process, built like an application: a session, an advertiser, a browser, and one delegate for
/// all.
///
/// It invites every peer that it finds, accepts every invitation, and sends a message, a stream and a file to every
/// peer that connects. At each callback site it does what the test has set for that site.
///
/// Unchecked: the lock guards all mutable state, and nothing is called while it is held.
final class TestApplication: NSObject, @unchecked Sendable {
    /// What an application holds.
    struct OwnedObjects {
        var session: MCSession?
        var advertiser: MCNearbyServiceAdvertiser?
        var browser: MCNearbyServiceBrowser?
        var assistant: MCAdvertiserAssistant?
        var chooser: MCBrowserViewController?
        var chooserEar: ChooserDelegate?
        var writers: [OutputStream] = []
        var readers: [InputStream] = []
        var ears: [StreamEventDelegate] = []
        var transfers: [Progress] = []
    }

    private struct State {
        var belongings = OwnedObjects()
        var known: [MCPeerID] = []
        var states: [MCPeerID: [MCSessionState]] = [:]
        var messages: [Data] = []
        var hooks: [CallbackSite: @Sendable (TestApplication) -> Void] = [:]
        var verdict: @Sendable (@escaping @Sendable (Bool) -> Void) -> Void = { $0(true) }
        var shown: [[MCCertificate]?] = []
        var isChatty = true
        var keepsWriters = false
        var keepsInvitations = false
        var invitations: [@Sendable (Bool, MCSession?) -> Void] = []
        weak var partner: TestApplication?
        var waiting: [(isSo: @Sendable (TestApplication) -> Bool, signal: Promise<Void>)] = []
    }

    let peer: MCPeerID
    let network: InMemoryDiscovery
    private let configuration: Session.Configuration
    private let encryption: MCEncryptionPreference
    private let identity: [Any]?
    private let lock = NSLock()
    private var state = State()

    init(
        _ name: String, on network: InMemoryDiscovery, encryption: MCEncryptionPreference = .required,
        identity: [Any]? = nil, _ change: (inout Session.Configuration) -> Void = { _ in }
    ) {
        peer = MCPeerID(displayName: name)
        self.network = network
        self.encryption = encryption
        self.identity = identity
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        change(&configuration)
        self.configuration = configuration
        super.init()
        open()
    }

    /// Creates the objects that an application holds, or creates them again.
    func open() {
        let session = MCSession(
            peer: peer, securityIdentity: identity, encryptionPreference: encryption,
            configuration: configuration)
        session.delegate = self
        _ = change { held in
            defer { held.session = session }
            return held.session
        }
    }

    /// Returns the objects that were held, which end when the caller releases them: not under the lock.
    func letGo() -> OwnedObjects {
        change { held in
            defer { held = OwnedObjects() }
            return held
        }
    }

    func change<Value>(_ body: (inout OwnedObjects) -> Value) -> Value {
        lock.withLock { body(&state.belongings) }
    }

    var belongings: OwnedObjects { change { $0 } }
    var session: MCSession? { belongings.session }
    var known: [MCPeerID] { lock.withLock { state.known } }
    var messages: [Data] { lock.withLock { state.messages } }

    /// Returns the states of a peer that the delegate received, in order.
    func states(of peer: MCPeerID) -> [MCSessionState] { lock.withLock { state.states[peer] ?? [] } }

    func isConnected(to peer: MCPeerID) -> Bool { states(of: peer).last == .connected }

    /// To be done at the place, the first time that it is reached from now on.
    func at(_ place: CallbackSite, _ body: @escaping @Sendable (TestApplication) -> Void) {
        lock.withLock { state.hooks[place] = body }
    }

    /// Sets how it answers a certificate.
    func judge(_ body: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> Void) {
        lock.withLock { state.verdict = body }
    }

    /// From here on it sends nothing by itself.
    func keepQuiet() { lock.withLock { state.isChatty = false } }

    /// Stops closing the streams to others from now on.
    func keepWriters() { lock.withLock { state.keepsWriters = true } }

    /// Whether the streams to others stay open.
    var keepsWriters: Bool { lock.withLock { state.keepsWriters } }

    /// The device with which it exchanges connection data.
    var partner: TestApplication? {
        get { lock.withLock { state.partner } }
        set { lock.withLock { state.partner = newValue } }
    }

    /// Stops answering invitations from now on.
    func keepInvitations() { lock.withLock { state.keepsInvitations = true } }

    /// Returns whether the invitation is to be answered now.
    func admits(_ handler: @escaping @Sendable (Bool, MCSession?) -> Void) -> Bool {
        lock.withLock {
            if state.keepsInvitations { state.invitations.append(handler) }
            return !state.keepsInvitations
        }
    }

    var isChatty: Bool { lock.withLock { state.isChatty } }

    /// Waits until this holds, which is checked at each event of the device.
    func until(_ isSo: @escaping @Sendable (TestApplication) -> Bool) async {
        if isSo(self) { return }
        let signal = Promise<Void>()
        lock.withLock { state.waiting.append((isSo, signal)) }
        heard()
        await signal.value(onCancel: { signal.send(()) })
    }

    /// Looks at what is waited for.
    private func heard() {
        let waiting = lock.withLock { state.waiting }
        for (isSo, signal) in waiting where isSo(self) { signal.send(()) }
        lock.withLock { state.waiting.removeAll { $0.signal.isSent } }
    }

    /// Called at the place: before anything else.
    func reached(_ place: CallbackSite) {
        lock.withLock { state.hooks.removeValue(forKey: place) }?(self)
    }

    func note(_ peer: MCPeerID, _ told: MCSessionState) {
        lock.withLock { state.states[peer, default: []].append(told) }
        heard()
    }

    func note(_ message: Data) {
        lock.withLock { state.messages.append(message) }
        heard()
    }

    func noteFound(_ peer: MCPeerID) {
        lock.withLock { if !state.known.contains(peer) { state.known.append(peer) } }
        heard()
    }

    func noteShown(_ certificates: [MCCertificate]?) {
        lock.withLock { state.shown.append(certificates) }
        heard()
    }

    /// The certificates that it was shown.
    var shown: [[MCCertificate]?] { lock.withLock { state.shown } }

    var verdict: @Sendable (@escaping @Sendable (Bool) -> Void) -> Void {
        lock.withLock { state.verdict }
    }
}
