@preconcurrency import MultipeerConnectivity
import Synchronization

// Boxes, locks and attributes for values that cross isolation domains.

// idiom: an unchecked box around a peer

struct PeerBox: @unchecked Sendable, Hashable {
    let peer: MCPeerID
    var name: String { peer.displayName }
}

// idiom: a generic unchecked box around anything

@dynamicMemberLookup
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
    subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

func later(_ session: MCSession, _ peer: MCPeerID) {
    let (session, peer) = (UncheckedBox(session), UncheckedBox(peer))
    Task.detached {
        try session.value.send(Data(peer.displayName.utf8), toPeers: [peer.value], with: .reliable)
    }
}

// idiom: an @unchecked Sendable class that is confined to one queue

final class QueueBound: NSObject, @unchecked Sendable {
    private let queue = DispatchQueue(label: "idiom.queue")
    private var states: [MCPeerID: MCSessionState] = [:]

    func set(_ state: MCSessionState, of peer: MCPeerID) { queue.async { self.states[peer] = state } }
    func state(of peer: MCPeerID) -> MCSessionState { queue.sync { states[peer] ?? .notConnected } }
}

// idiom: an @unchecked Sendable class with a lock

final class LockedState: @unchecked Sendable {
    private let lock = NSLock()
    private var session: MCSession?

    func replace(_ session: MCSession?) { lock.withLock { self.session = session } }
    var connectedPeers: [MCPeerID] { lock.withLock { session?.connectedPeers ?? [] } }
}

// idiom: a Sendable class with a mutex

final class PresenceCount: Sendable {
    private let names = Mutex<Set<String>>([])

    func changed(_ peer: MCPeerID, _ state: MCSessionState) {
        let name = peer.displayName
        names.withLock { names in
            if state == .connected { names.insert(name) } else { names.remove(name) }
        }
    }
    var count: Int { names.withLock(\.count) }
}

// idiom: global constants, allowed by a @preconcurrency import

let sharedPeer = MCPeerID(displayName: "constant")
let sharedSession = MCSession(peer: sharedPeer)
enum Defaults { static let browser = MCNearbyServiceBrowser(peer: sharedPeer, serviceType: "idiom-box") }

// idiom: a global variable marked nonisolated(unsafe)

nonisolated(unsafe) var currentSession: MCSession?

func disconnectCurrentSession() { currentSession?.disconnect() }
func currentPeers() -> [MCPeerID] { currentSession?.connectedPeers ?? [] }

// idiom: a Sendable event that carries a handler

struct Invitation: Sendable {
    let name: String
    let context: Data?
    let respond: @Sendable (Bool, MCSession?) -> Void
}

// idiom: a Sendable delegate without mutable state

final class AutoAccept: NSObject, MCNearbyServiceAdvertiserDelegate, Sendable {
    let session: MCSession
    init(session: MCSession) { self.session = session }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) { invitationHandler(true, session) }
}

// idiom: an MCError that is returned from a task

func sendInBackground(_ data: Data, in session: MCSession) async -> MCError? {
    await Task {
        do {
            try session.send(data, toPeers: session.connectedPeers, with: .reliable)
            return nil
        } catch let error as MCError {
            return error
        } catch {
            return MCError(.unknown)
        }
    }.value
}
