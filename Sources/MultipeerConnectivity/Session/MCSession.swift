public import Foundation
public import Multipeer
import MultipeerTransport

/// The peers that are connected with the local one, and what is sent between them.
///
/// ```swift
/// let session = MCSession(peer: MCPeerID(displayName: "ann"))
/// session.delegate = delegate
/// session.connectPeer(bob, withNearbyConnectionData: data)     // or by an invitation
/// try session.send(Data("hello".utf8), toPeers: session.connectedPeers, with: .reliable)
/// ```
///
/// Everything of it may be called from any thread and from inside its delegate's calls; nothing waits for the network.
/// `disconnect` leaves it usable; letting go of it disconnects, with a goodbye. It needs neither the main queue nor a run
/// loop.
open class MCSession: NSObject {
    private(set) var core: SessionCore
    private let peer: MCPeerID
    private let identity: [Any]?
    private let preference: MCEncryptionPreference

    /// A session without an identity whose connections are all encrypted.
    public convenience init(peer myPeerID: MCPeerID) {
        self.init(peer: myPeerID, securityIdentity: nil, encryptionPreference: .required)
    }

    /// A session that shows an identity: an `MCIdentity`, behind it the `MCCertificate`s of its chain, each of them the
    /// issuer of the one before.
    ///
    /// Anything else in the array, or a chain that does not belong together, ends the process, and so does a system that
    /// has neither memory nor descriptors left for a session.
    public init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
        encryptionPreference: MCEncryptionPreference
    ) {
        peer = myPeerID
        self.identity = identity
        preference = encryptionPreference
        core = SessionCore(
            myPeerID.id, MCSession.configuration(.facade, identity, encryptionPreference))
        super.init()
        core.attach(self)
    }

    /// The same with the native API's limits, addresses and patience; not in Apple's framework. Identity, encryption and
    /// trust are what is asked for here.
    public convenience init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
        encryptionPreference: MCEncryptionPreference, configuration: SessionConfiguration
    ) {
        self.init(
            peer: myPeerID, securityIdentity: identity, encryptionPreference: encryptionPreference)
        core = SessionCore(
            myPeerID.id, MCSession.configuration(configuration, identity, encryptionPreference))
        core.attach(self)
    }

    deinit { core.end() }

    /// The session of the native API that does the work; not in Apple's framework. Its events are taken by this one: take
    /// none, and do not disconnect it.
    public var native: Session { core.native }

    /// Who hears what happens. It is not kept alive.
    open weak var delegate: (any MCSessionDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The local peer.
    open var myPeerID: MCPeerID { peer }

    /// What was given when the session was made.
    open var securityIdentity: [Any]? { identity }

    /// What was given when the session was made.
    open var encryptionPreference: MCEncryptionPreference { preference }

    /// The peers that are connected, without the local one, in the order in which they were.
    ///
    /// A peer is among them before the delegate hears `.connected`, and not any more when it hears `.notConnected`.
    open var connectedPeers: [MCPeerID] { core.connectedPeers }

    /// Sends a message to each of these peers, and returns at once.
    ///
    /// Throws before anything is sent to anybody: `MCError.invalidParameter` when there are no peers or the message is
    /// longer than one of them accepts, `MCError.notConnected` when one of them is not connected, and
    /// `MCError.unavailable` when too much waits to be sent to one of them.
    open func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
        try core.send([UInt8](data), to: peerIDs.map(\.id), mode)
    }

    /// Leaves: everyone hears so, and `connectedPeers` is empty when this returns.
    ///
    /// What was sent before still goes out, for a second at most; then the delegate hears `.notConnected` of everyone who
    /// was connected or connecting. The session can be used again at once: what is asked for meanwhile begins after that.
    open func disconnect() { core.disconnect() }

    /// Sends a file, or a document of the web, and returns at once.
    ///
    /// A file is opened before this returns, and may be removed then; a document is fetched by this side and forwarded
    /// while it arrives. The handler is called once, on the session's private queue: with nil when the peer has all of it;
    /// with `MCError.cancelled` when somebody called it off or did not want it; `MCError.notConnected` when the connection
    /// ended; `MCError.unavailable` when there is no room at one of the sides; `MCError.unknown` when the file or document
    /// cannot be read, or arrived damaged.
    ///
    /// The progress counts bytes and is a part of the current one. `cancel` calls the resource off, here and at the other
    /// side; it is complete when the peer has all of it, and not before. `fractions` tells its changes.
    ///
    /// There is none when it is known at once that nothing can be sent, and the handler hears why: `MCError.unsupported`
    /// for URLs that are neither file, http nor https; `MCError.notConnected`; `MCError.invalidParameter` for a name that
    /// has not 1 to 1,024 bytes; `MCError.unknown` when there is no such file or it is no regular one.
    @discardableResult
    open func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) -> Progress? {
        core.sendResource(at: resourceURL, named: resourceName, to: peerID.id, completionHandler)
    }

    /// Opens a stream of bytes to a peer, whose delegate is handed the other end.
    ///
    /// Its own delegate hears on any run loop where it is scheduled that there is room, or that the other side gave it up,
    /// with an `MCError`; and it can be written to without any, on a thread that may wait. `close` ends it after what was
    /// written; letting go of it without that gives it up. A peer has 64 streams and resources open to it at the most:
    /// those beyond begin when others end, and what is written to them waits.
    ///
    /// Throws `MCError.notConnected`, and `MCError.invalidParameter` for a name that has not 1 to 1,024 bytes.
    @discardableResult
    open func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
        try core.startStream(named: streamName, to: peerID.id)
    }

    // MARK: custom discovery

    /// Makes what a peer, and nobody else, needs to connect with this session; the app carries it there.
    ///
    /// The handler is called on the session's private queue.
    open func nearbyConnectionData(
        forPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        core.connectionData(for: peerID.id, completionHandler)
    }

    /// The same, as an asynchronous call.
    open func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
        try await core.connectionData(for: peerID.id).value.get()
    }

    /// Connects with a peer by the data that it made for the local one. Both sides have to, within 30 seconds; the peer can
    /// once it has got what `nearbyConnectionData` makes here, before this call or after it.
    ///
    /// The delegate hears `.connecting` and `.connected`; or `.notConnected`, also when the data is not of that peer.
    open func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
        core.connect(peerID.id, with: data)
    }

    /// Gives up connecting with a peer. One that is connected stays connected.
    open func cancelConnectPeer(_ peerID: MCPeerID) { core.cancelConnect(peerID.id) }
}
