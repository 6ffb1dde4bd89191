import Foundation
@preconcurrency import MultipeerConnectivity

/// Another device, and the session with it: one session for each, so that leaving one does not affect the others.
///
/// Everything in it runs on the main actor. The framework calls the delegate on a queue of the session, and
/// `DispatchQueue.main` keeps the order of those calls; a task for each would not.
@MainActor final class Device: NSObject {
    enum Event: Sendable {
        case changed(MCSessionState)
        case received(Message)
        case receivedFile(String, URL)
        case failed(String)
    }

    let peer: MCPeerID
    /// Its display name, safe for a terminal.
    let name: String
    /// Whether it was found and not lost since.
    var isNearby = false
    private(set) var state = MCSessionState.notConnected

    private let me: MCPeerID
    private let inbox: URL
    private let tell: @MainActor (Device, Event) -> Void
    private var session: MCSession?
    private var hasLeft = false

    init(
        _ peer: MCPeerID, me: MCPeerID, inbox: URL, telling: @escaping @MainActor (Device, Event) -> Void
    ) {
        (self.peer, self.me, self.inbox, tell) = (peer, me, inbox, telling)
        name = peer.displayName.printable
    }

    // MARK: coming and going

    /// Invites the device. Both sides may do this at the same time, and accept each other's invitation: the result is one
    /// connection.
    func invite(through browser: MCNearbyServiceBrowser) {
        guard state == .notConnected || hasLeft else { return }
        browser.invitePeer(peer, to: openSession(), withContext: nil, timeout: 20)
    }

    /// Accepts the device's invitation.
    func accept(_ answer: @Sendable (Bool, MCSession?) -> Void) { answer(true, openSession()) }

    /// Ends the session; the next invitation creates another one.
    func leave() {
        hasLeft = true
        session?.disconnect()
    }

    private func openSession() -> MCSession {
        if let session, !hasLeft { return session }
        hasLeft = false
        let fresh = MCSession(peer: me, securityIdentity: nil, encryptionPreference: .required)
        fresh.delegate = self
        session = fresh
        if state != .notConnected { change(to: .notConnected) }
        return fresh
    }

    private func change(to state: MCSessionState) {
        self.state = state
        tell(self, .changed(state))
    }

    // MARK: sending

    func send(_ message: Message) throws {
        try session?.send(message.data, toPeers: [peer], with: .reliable)
    }

    func send(file: URL, as name: String) {
        session?.sendResource(at: file, withName: name, toPeer: peer) { @Sendable error in
            guard let error else { return }
            let text = "\(name) was not sent: \(error.localizedDescription)"
            DispatchQueue.main.async { self.tell(self, .failed(text)) }
        }
    }

    /// Handles an event; events of a session that was replaced in the meantime are ignored.
    private func take(_ event: Event, from session: MCSession) {
        guard session === self.session else { return }
        if case .changed(let state) = event { change(to: state) } else { tell(self, event) }
    }
}

extension Device: MCSessionDelegate {
    nonisolated func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        DispatchQueue.main.async { self.take(.changed(state), from: session) }
    }

    nonisolated func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let event: Event
        do {
            event = .received(try Message(data))
        } catch {
            event = .failed("received \(data.count) bytes that are not a message")
        }
        DispatchQueue.main.async { self.take(event, from: session) }
    }

    nonisolated func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}

    nonisolated func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}

    /// The file is moved before this returns, since afterwards it is gone. The sender's name for it is a label, not a
    /// path.
    nonisolated func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        let event: Event
        do {
            guard let localURL else { throw error ?? CocoaError(.fileNoSuchFile) }
            let kept = inbox.appending(path: UUID().uuidString)
            try FileManager.default.moveItem(at: localURL, to: kept)
            event = .receivedFile(resourceName, kept)
        } catch {
            event = .failed("file not received: \(error.localizedDescription)")
        }
        DispatchQueue.main.async { self.take(event, from: session) }
    }
}
