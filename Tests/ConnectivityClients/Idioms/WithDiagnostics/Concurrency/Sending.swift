// mode: Swift 6
// flags: -swift-version 6

import MultipeerConnectivity

// What cannot be sent to another isolation domain, with a plain import. Apple's module has the same diagnostics.

// idiom: a dispatch to the main queue that captures self and a peer
// why: Neither the class nor `MCPeerID` is `Sendable`.
// instead: Put the class on the main actor, and hop with values.

#if INSTEAD
    @MainActor
    final class Table {
        private var names: [String] = []

        nonisolated func add(_ peer: MCPeerID) {
            let name = peer.displayName
            DispatchQueue.main.async { MainActor.assumeIsolated { self.names.append(name) } }
        }
    }
#else
    final class Table {
        private var peers: [MCPeerID] = []
        // error: sending 'self' risks causing data races
        // error: sending 'peer' risks causing data races
        func add(_ peer: MCPeerID) { DispatchQueue.main.async { self.peers.append(peer) } }
    }
#endif

// idiom: a task on the main actor that captures a peer
// why: `MCPeerID` is not `Sendable`, and the caller may still use it.
// instead: Import with `@preconcurrency`, or capture values such as the name.

@MainActor
final class PeerList {
    private(set) var peers: [MCPeerID] = []
    private(set) var names: [String] = []

    nonisolated func found(_ peer: MCPeerID) {
        #if INSTEAD
            let name = peer.displayName
            Task { @MainActor in self.names.append(name) }
        #else
            // error: sending 'peer' risks causing data races
            Task { @MainActor in self.peers.append(peer) }
        #endif
    }
}

// idiom: a task that captures an invitation handler which is not @Sendable
// why: A function that is not `@Sendable` cannot be called on another actor.
// instead: Write `@escaping @Sendable`, which this package allows; Apple's module does not.

@MainActor
final class Asking: NSObject, MCNearbyServiceAdvertiserDelegate {
    #if INSTEAD
        nonisolated func advertiser(
            _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
            withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
        ) {
            Task { @MainActor in invitationHandler(false, nil) }
        }
    #else
        nonisolated func advertiser(
            _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
            withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
        ) {
            // error: sending 'invitationHandler' risks causing data races
            Task { @MainActor in invitationHandler(false, nil) }
        }
    #endif
}

// idiom: a session returned from an actor
// why: The actor would share its session with its callers.
// instead: Return values from the actor, and let it do the work.

actor Room {
    private let session = MCSession(peer: MCPeerID(displayName: "room"))
    #if INSTEAD
        func names() -> [String] { session.connectedPeers.map(\.displayName) }
    #else
        func current() -> MCSession { session }
    #endif
}

@MainActor
func show(_ room: Room) async -> Int {
    #if INSTEAD
        return await room.names().count
    #else
        // error: non-Sendable 'MCSession'-typed result can not be returned
        return await room.current().connectedPeers.count
    #endif
}

// idiom: a session used after it was sent into an actor
// why: Two isolation domains would use it at the same time.
// instead: Do not use the session after that.

actor Keeper {
    private var session: MCSession?
    func keep(_ session: sending MCSession) { self.session = session }
}

func hand(over keeper: Keeper) async {
    let session = MCSession(peer: MCPeerID(displayName: "sent"))
    // error: sending 'session' risks causing data races
    await keeper.keep(session)
    #if !INSTEAD
        session.disconnect()
    #endif
}

// idiom: peers yielded into an asynchronous stream
// why: The loop over the stream may run anywhere, and `MCPeerID` is not `Sendable`.
// instead: Import with `@preconcurrency`, or yield values.

final class Found: NSObject {
    #if INSTEAD
        private let (stream, continuation) = AsyncStream<String>.makeStream()
        func found(_ peer: MCPeerID) { continuation.yield(peer.displayName) }
    #else
        private let (stream, continuation) = AsyncStream<MCPeerID>.makeStream()
        // error: sending 'peer' risks causing data races
        func found(_ peer: MCPeerID) { continuation.yield(peer) }
    #endif
}

// idiom: a detached task that captures a session
// why: The caller keeps the session, which is not `Sendable`.
// instead: Let an actor own the session, and await its methods.

#if INSTEAD
    actor Sender {
        private let session = MCSession(peer: MCPeerID(displayName: "sender"))
        func send(_ data: Data) throws {
            try session.send(data, toPeers: session.connectedPeers, with: .reliable)
        }
    }

    func sendLater(_ data: Data, with sender: Sender) { Task.detached { try await sender.send(data) } }
#else
    func sendLater(_ data: Data, in session: MCSession) {
        // error: passing closure as a 'sending' parameter risks causing data races
        Task.detached { try session.send(data, toPeers: session.connectedPeers, with: .reliable) }
    }
#endif
