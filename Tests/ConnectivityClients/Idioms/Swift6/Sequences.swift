@preconcurrency import MultipeerConnectivity

// Delegates as asynchronous sequences, and tasks that follow them.

// idiom: the events of a session as one asynchronous stream

enum SessionEvent: Sendable {
    case state(MCPeerID, MCSessionState)
    case message(Data, MCPeerID)
}

final class SessionEvents: QuietSessionDelegate {
    let stream: AsyncStream<SessionEvent>
    private let continuation: AsyncStream<SessionEvent>.Continuation

    override init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1000))
        super.init()
    }

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        continuation.yield(.state(peerID, state))
    }
    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        continuation.yield(.message(data, peerID))
    }
}

// idiom: a task that iterates over the stream until it is cancelled

@MainActor
final class Follower {
    private var task: Task<Void, Never>?
    private(set) var lines: [String] = []

    func follow(_ events: AsyncStream<SessionEvent>) {
        task?.cancel()
        task = Task { [weak self] in
            for await event in events {
                guard case .message(let data, let peer) = event else { continue }
                self?.lines.append("\(peer.displayName): \(String(decoding: data, as: UTF8.self))")
            }
        }
    }

    func stop() { task?.cancel() }
}

// idiom: a stream with the list of nearby peers

final class NearbyStream: NSObject, MCNearbyServiceBrowserDelegate {
    let peers: AsyncStream<[PeerBox]>
    private let continuation: AsyncStream<[PeerBox]>.Continuation
    private var current: [MCPeerID] = [] {
        didSet { continuation.yield(current.map(PeerBox.init)) }
    }

    override init() {
        (peers, continuation) = AsyncStream.makeStream(
            of: [PeerBox].self, bufferingPolicy: .bufferingNewest(1))
        super.init()
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { current.append(peerID) }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        current.removeAll { $0 == peerID }
    }
}

// idiom: a stream that stops browsing when its loop ends

func names(nearby peer: MCPeerID, serviceType: String) -> AsyncStream<String> {
    AsyncStream { continuation in
        let browser = MCNearbyServiceBrowser(peer: peer, serviceType: serviceType)
        let delegate = NameYielder(continuation)
        browser.delegate = delegate
        continuation.onTermination = { _ in withExtendedLifetime(delegate) { browser.stopBrowsingForPeers() }
        }
        browser.startBrowsingForPeers()
    }
}

final class NameYielder: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
    let continuation: AsyncStream<String>.Continuation
    init(_ continuation: AsyncStream<String>.Continuation) { self.continuation = continuation }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { continuation.yield(peerID.displayName) }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: a throwing stream that ends with the error of a browser

final class ThrowingBrowser: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
    let (names, continuation) = AsyncThrowingStream<String, any Error>.makeStream()

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { continuation.yield(peerID.displayName) }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        continuation.finish(throwing: error)
    }
}

// idiom: progress as an asynchronous sequence of fractions

@MainActor
final class ProgressModel {
    private(set) var fraction = 0.0

    func follow(_ progress: Progress?) async {
        guard let progress else { return }
        for await fraction in progress.fractions { self.fraction = fraction }
    }
}

// idiom: a debounced message

@MainActor
final class Debounce {
    private var pending: Task<Void, any Error>?

    func send(_ data: Data, in session: MCSession) {
        pending?.cancel()
        pending = Task {
            try await Task.sleep(for: .seconds(1))
            try session.send(data, toPeers: session.connectedPeers, with: .reliable)
        }
    }
}

// idiom: a wait for a peer, with a time limit

@MainActor
func waits(for peer: MCPeerID, in session: MCSession, atMost limit: Duration = .seconds(10)) async -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, !Task.isCancelled {
        if session.connectedPeers.contains(peer) { return true }
        try? await Task.sleep(for: .milliseconds(50))
    }
    return false
}

// idiom: a heartbeat in a task with a weak self

@MainActor
final class Heartbeat {
    private let session: MCSession
    private var task: Task<Void, Never>?
    init(session: MCSession) { self.session = session }

    func start() {
        task = Task { [weak self] in
            while !Task.isCancelled, let self {
                try? self.session.send(Data([0]), toPeers: self.session.connectedPeers, with: .unreliable)
                try? await Task.sleep(for: .seconds(5))
            }
        }
    }
    isolated deinit { task?.cancel() }
}
