@preconcurrency import MultipeerConnectivity

// Code of such a module that does not run on the main actor.

// idiom: a nonisolated delegate class

nonisolated final class Bridge: NSObject, MCNearbyServiceAdvertiserDelegate, Sendable {
    let asked: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    override init() {
        (asked, continuation) = AsyncStream.makeStream()
        super.init()
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        continuation.yield(peerID.displayName)
        invitationHandler(false, nil)
    }
}

// idiom: a model that iterates over the stream of a nonisolated delegate

final class Doorkeeper {
    private let bridge = Bridge()
    private(set) var names: [String] = []

    func run() async {
        for await name in bridge.asked { names.append(name) }
    }
}

// idiom: a nonisolated, Codable message

nonisolated struct ChatMessage: Codable, Sendable, Identifiable {
    var id = UUID()
    var text: String
}

// idiom: encoding in a @concurrent function

@concurrent func encode(_ messages: [ChatMessage]) async throws -> Data {
    try JSONEncoder().encode(messages)
}

final class History {
    private var messages: [ChatMessage] = []
    func send(to peer: MCPeerID, in session: MCSession) async throws {
        let data = try await encode(messages)
        try session.send(data, toPeers: [peer], with: .reliable)
    }
}

// idiom: an actor with a session, besides the main actor

actor Transport {
    private let session: MCSession
    init(named name: String) { session = MCSession(peer: MCPeerID(displayName: name)) }

    func send(_ message: ChatMessage) throws {
        try session.send(JSONEncoder().encode(message), toPeers: session.connectedPeers, with: .reliable)
    }
}

// idiom: a nonisolated subclass of a session

nonisolated final class QuietSession: MCSession {
    override var connectedPeers: [MCPeerID] { [] }
    override func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {}
}

// idiom: a timer's block that assumes the main actor

final class Pulse {
    private var timer: Timer?
    private let session: MCSession
    init(session: MCSession) { self.session = session }

    func start() {
        timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in
            MainActor.assumeIsolated { self?.beat() }
        }
    }
    private func beat() {
        try? session.send(Data([1]), toPeers: session.connectedPeers, with: .unreliable)
    }
}

// idiom: an explicit isolated conformance

final class Explicit: NSObject {}

extension Explicit: @MainActor MCAdvertiserAssistantDelegate {
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
}

// idiom: a completion handler that hops to the main actor with a value

final class Upload {
    private(set) var message = ""
    private var progress: Progress?

    func start(_ url: URL, to peer: MCPeerID, in session: MCSession) {
        progress = session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
            let message = error.map { "failed: \($0.localizedDescription)" } ?? "sent"
            Task { @MainActor in self.message = message }
        }
    }
}

// idiom: an invitation handler that is stored on the main actor

final class Prompt: NSObject, MCNearbyServiceAdvertiserDelegate {
    private(set) var answer: ((Bool, MCSession?) -> Void)?

    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        Task { @MainActor in self.answer = invitationHandler }
    }
    func accept() { answer?(true, Shared.session) }
}
