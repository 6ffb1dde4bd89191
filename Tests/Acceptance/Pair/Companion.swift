import MultipeerConnectivity

/// An application that both advertises and browses, invites every peer that it finds, and accepts every invitation, as most
/// applications of Apple's framework do. It writes what happens to standard error.
///
/// Its session is made with it, or in the first call of a delegate that needs one, as a `lazy` property is.
///
/// Unchecked: the lock guards what changes.
final class Companion: NSObject, @unchecked Sendable {
    enum Event {
        case connected(MCPeerID)
        case notConnected
        case message(Data)
        case stream(InputStream)
        case receiving(Progress)
        /// A received file, which the closure of the delegate has moved.
        case received((any Error)?)
    }

    let peer: MCPeerID
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser
    private let lock = NSRecursiveLock()
    private var made: MCSession?
    private var mover: ((URL) throws -> Void)?

    init(_ name: String, serviceType: String, makesSessionLate: Bool) {
        peer = MCPeerID(displayName: name)
        advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: serviceType)
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: serviceType)
        (events, continuation) = AsyncStream.makeStream()
        super.init()
        advertiser.delegate = self
        browser.delegate = self
        if !makesSessionLate { _ = session }
    }

    var session: MCSession {
        lock.withLock {
            if let made { return made }
            let session = MCSession(peer: peer, securityIdentity: nil, encryptionPreference: .required)
            session.delegate = self
            made = session
            return session
        }
    }

    /// Sets what is done with a received file before its delegate returns.
    func moveFiles(_ mover: @escaping (URL) throws -> Void) { lock.withLock { self.mover = mover } }

    func start() {
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    /// Connects to the other application, and exchanges one message each way. A connection that is lost is a failure.
    @MainActor
    func meet() async throws -> String {
        let begin = Date()
        _ = try await connect()
        return String(format: "%.3f s", Date().timeIntervalSince(begin))
    }

    /// The same; returns the other peer.
    @MainActor
    func connect() async throws -> MCPeerID {
        start()
        var connected: MCPeerID?
        var isGreeted = false
        for await event in events {
            switch event {
            case .connected(let peer):
                connected = peer
                try session.send(Data("hello".utf8), toPeers: [peer], with: .reliable)
            case .message(let data):
                guard data == Data("hello".utf8) else {
                    throw Failure("another message: \(data.count) bytes")
                }
                isGreeted = true
            case .notConnected: throw Failure("notConnected")
            case .stream, .receiving, .received: break
            }
            if let connected, isGreeted { return connected }
        }
        throw Failure("no more events")
    }

    private func note(_ text: String) {
        let time = Date().timeIntervalSinceReferenceDate.truncatingRemainder(dividingBy: 1_000)
        FileHandle.standardError.write(
            Data((String(format: "%7.3f ", time) + "\(peer.displayName): \(text)\n").utf8))
    }
}

extension Companion: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        note("is invited by \(peerID.displayName)")
        invitationHandler(true, session)
    }

    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
        note("does not advertise: \(error)")
    }
}

extension Companion: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        note("has found \(peerID.displayName)")
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        note("has lost \(peerID.displayName)")
    }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        note("does not browse: \(error)")
    }
}

extension Companion: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .notConnected:
            note("\(peerID.displayName) is notConnected")
            continuation.yield(.notConnected)
        case .connecting: note("\(peerID.displayName) is connecting")
        case .connected:
            note("\(peerID.displayName) is connected")
            continuation.yield(.connected(peerID))
        @unknown default: break
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        continuation.yield(.message(data))
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        continuation.yield(.stream(stream))
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        continuation.yield(.receiving(progress))
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        do {
            if let localURL { try lock.withLock { mover }?(localURL) }
            continuation.yield(.received(error))
        } catch {
            continuation.yield(.received(error))
        }
    }
}
