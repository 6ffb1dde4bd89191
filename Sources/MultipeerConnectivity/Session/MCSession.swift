public import Dispatch
public import Foundation
public import Multipeer
import MultipeerTransport

/// A session with connected peers, which carries messages, resources and streams between them.
///
/// ```swift
/// let session = MCSession(peer: MCPeerID(displayName: "ann"))
/// session.delegate = delegate
/// session.connectPeer(bob, withNearbyConnectionData: data)     // or by an invitation
/// try session.send(Data("hello".utf8), toPeers: session.connectedPeers, with: .reliable)
/// ```
///
/// All its methods may be called from any thread and from inside delegate calls; none waits for the network. `disconnect` leaves
/// it usable; releasing it disconnects, with a goodbye. It needs neither the main queue nor a run loop.
open class MCSession: NSObject {
    let core: SessionCore
    private let lentCore: LentReference<SessionCore>
    private let peer: MCPeerID
    private let identity: [Any]?
    private let preference: MCEncryptionPreference

    /// Creates a session without an identity that encrypts all its connections.
    public convenience init(peer myPeerID: MCPeerID) {
        self.init(peer: myPeerID, securityIdentity: nil, encryptionPreference: .required)
    }

    /// Creates a session that presents an identity: an `MCIdentity`, followed by the `MCCertificate`s of its chain, each of them
    /// the issuer of the one before.
    ///
    /// With anything else in the array, or certificates that form no chain, no peer can be connected: every attempt is reported as
    /// `.notConnected`, and a line on standard error has the reason. Only a system that has neither memory nor descriptors left for
    /// a session ends the process.
    public init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
        encryptionPreference: MCEncryptionPreference
    ) {
        let configured = identity?.first as? ConfiguredIdentity
        peer = myPeerID
        self.identity = configured == nil ? identity : configured?.identity
        preference = encryptionPreference
        core = SessionCore(
            myPeerID.id,
            MCSession.configuration(
                configured?.configuration ?? .facade, self.identity, encryptionPreference))
        lentCore = LentReference(core)
        super.init()
        core.attach(self)
    }

    /// Creates a session with the native API's limits, addresses and timeouts; not in Apple's framework. Identity, encryption and
    /// trust are those of this initialiser.
    public convenience init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
        encryptionPreference: MCEncryptionPreference, configuration: Session.Configuration
    ) {
        // A designated initialiser of its own would keep a subclass that has the other from inheriting this one.
        self.init(
            peer: myPeerID,
            securityIdentity: [ConfiguredIdentity(identity: identity, configuration: configuration)],
            encryptionPreference: encryptionPreference)
    }

    /// What stands for an identity on the way from one initialiser to the other.
    private struct ConfiguredIdentity {
        let identity: [Any]?
        let configuration: Session.Configuration
    }

    deinit { core.end() }

    /// The session of the native API that does the work; not in Apple's framework. This session takes its events: take none, and
    /// do not disconnect it.
    public var native: Session { core.native }

    /// The delegate, which is not kept alive.
    open weak var delegate: (any MCSessionDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The queue on which the delegate and the handlers of this session are called, one call after the other: by default, nil, a
    /// private one, as Apple documents. Set it before the first connection, for instance to the main queue for a delegate that
    /// belongs to the main actor. Not in Apple's framework.
    public var delegateCallQueue: DispatchQueue? {
        get { core.callbacks.target }
        set { core.callbacks.target = newValue }
    }

    /// The local peer.
    open var myPeerID: MCPeerID { peer }

    /// The value that the session was created with.
    open var securityIdentity: [Any]? { identity }

    /// The value that the session was created with.
    open var encryptionPreference: MCEncryptionPreference { preference }

    /// The connected peers, without the local one, in the order in which they connected.
    ///
    /// A peer is in the list before the delegate receives `.connected`, and no longer when it receives `.notConnected`.
    open var connectedPeers: [MCPeerID] { core.connectedPeers }

    /// Sends a message to each of these peers, and returns at once.
    ///
    /// Throws before anything is sent to any peer: `MCError.invalidParameter` when there are no peers or the message is longer
    /// than one of them accepts, `MCError.notConnected` when one of them is not connected, and `MCError.unavailable` when the
    /// send queue of one of them is full.
    open func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
        try lentCore.lend { try $0.send(data, to: peerIDs, mode) }
    }

    /// Disconnects: every peer is notified, and `connectedPeers` is empty when this returns.
    ///
    /// What was sent before still goes out, for at most a second; then the delegate receives `.notConnected` for every peer that
    /// was connected or connecting. The session can be used again at once: requests made in the meantime begin after that.
    open func disconnect() { core.disconnect() }

    /// Sends a file, or a document of the web, and returns at once.
    ///
    /// A file is opened before this returns, and may be removed then; a document is fetched by this side and forwarded while it
    /// arrives. The handler is called once, on the session's private queue: with nil when the peer has all of it; with
    /// `MCError.cancelled` when either side cancelled or declined it; `MCError.notConnected` when the connection ended;
    /// `MCError.unavailable` when there is no room at one of the sides; `MCError.unknown` when the file or document cannot be
    /// read, or arrived damaged. In Swift 6 mode a handler that is written in code of the main actor, and is called elsewhere, ends
    /// the process, as with Apple's framework: write `{ @Sendable error in … }` there.
    ///
    /// The progress counts bytes and is a child of the current one. `cancel` cancels the transfer, here and at the other side; it
    /// is complete when the peer has all of it, and not before. `fractions` reports its changes.
    ///
    /// The progress is nil when it is known at once that nothing can be sent, and the handler receives the reason:
    /// `MCError.unsupported` for URLs that are neither file, http nor https; `MCError.notConnected`; `MCError.invalidParameter`
    /// for a name that does not have 1 to 1,024 bytes; `MCError.unknown` when there is no such file or it is not a regular file.
    @discardableResult
    open func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) -> Progress? {
        core.sendResource(
            at: resourceURL, named: resourceName, to: peerID.id, ResourceHandler(completionHandler))
    }

    /// Opens a byte stream to a peer, whose delegate receives the other end.
    ///
    /// On any run loop where the stream is scheduled, its own delegate is notified that there is room, or that the other side
    /// gave it up, with an `MCError`; without one it can be written to on a thread that may block. `close` ends it after what was
    /// written, and so does releasing it, which gives up one that was never opened. A run loop where it is scheduled keeps it
    /// alive while it is open. A peer has at most 128 streams and resources open to it: further ones begin when others end, and
    /// what is written to them waits.
    ///
    /// Throws `MCError.notConnected`, and `MCError.invalidParameter` for a name that does not have 1 to 1,024 bytes.
    @discardableResult
    open func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
        try core.startStream(named: streamName, to: peerID.id)
    }

    // MARK: custom discovery

    /// Makes the data with which one peer, and no other, can connect to this session; the app sends it to that peer.
    ///
    /// The handler is called on the session's private queue.
    open func nearbyConnectionData(
        forPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        core.connectionData(for: peerID.id, completionHandler)
    }

    /// Makes the connection data asynchronously.
    open func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
        try await core.connectionData(for: peerID.id).value.get()
    }

    /// Connects to a peer with the data that it made for the local one. Both sides have to connect, within 30 seconds; the peer
    /// can once it has the data that `nearbyConnectionData` makes here, before this call or after it.
    ///
    /// The delegate receives `.connecting` and `.connected`; or `.notConnected`, also when the data is not that peer's.
    open func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
        core.connect(peerID.id, with: data)
    }

    /// Stops connecting to a peer. A connected peer stays connected.
    open func cancelConnectPeer(_ peerID: MCPeerID) { core.cancelConnect(peerID.id) }
}
