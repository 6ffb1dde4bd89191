import MultipeerConnectivity

// Tasks, continuations and locks in Swift 5 mode, which allows more than Swift 6 does.

// idiom: an asynchronous stream whose continuation is a variable

final class DataStream: QuietSessionDelegate {
    private var continuation: AsyncStream<(MCPeerID, Data)>.Continuation?
    private(set) lazy var messages = AsyncStream<(MCPeerID, Data)> { self.continuation = $0 }

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        continuation?.yield((peerID, data))
    }
}

// idiom: waiting for a connection with a continuation

final class Connector: QuietSessionDelegate {
    private var waiting: [MCPeerID: CheckedContinuation<Bool, Never>] = [:]

    func connect(to peer: MCPeerID, with browser: MCNearbyServiceBrowser, in session: MCSession) async -> Bool
    {
        await withCheckedContinuation { continuation in
            waiting[peer] = continuation
            browser.invitePeer(peer, to: session, withContext: nil, timeout: 10)
        }
    }

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        guard state != .connecting else { return }
        waiting.removeValue(forKey: peerID)?.resume(returning: state == .connected)
    }
}

// idiom: a file is sent with a continuation

extension MCSession {
    func sendFile(_ url: URL, to peer: MCPeerID) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, Error>) in
            sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
                if let error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume()
                }
            }
        }
    }
}

// idiom: a task in a delegate method that uses self and the session

final class Syncing: QuietSessionDelegate {
    private(set) var synced: Set<MCPeerID> = []

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        guard state == .connected else { return }
        Task {
            try await Task.sleep(nanoseconds: 500_000_000)
            try session.send(Data("sync".utf8), toPeers: [peerID], with: .reliable)
            synced.insert(peerID)
        }
    }
}

// idiom: a list protected by a lock

final class LockedPeers {
    private let lock = NSLock()
    private var peers: [MCPeerID] = []

    func add(_ peer: MCPeerID) {
        lock.lock()
        defer { lock.unlock() }
        if !peers.contains(peer) { peers.append(peer) }
    }

    var all: [MCPeerID] { lock.withLock { peers } }
}

// idiom: a dictionary protected by a concurrent queue with barriers

final class BarrierStates {
    private let queue = DispatchQueue(label: "states", attributes: .concurrent)
    private var states: [MCPeerID: MCSessionState] = [:]

    subscript(peer: MCPeerID) -> MCSessionState? {
        get { queue.sync { states[peer] } }
        set { queue.async(flags: .barrier) { self.states[peer] = newValue } }
    }
}

// idiom: connection data with a completion handler

func exchange(_ session: MCSession, with peer: MCPeerID, over channel: @escaping (Data) -> Void) {
    session.nearbyConnectionData(forPeer: peer) { data, error in
        guard let data else { return print(error?.localizedDescription ?? "no data") }
        channel(data)
    }
}

// idiom: a repeating timer that waits for peers

final class Waiting {
    private var timer: Timer?

    func wait(for count: Int, in session: MCSession, then action: @escaping () -> Void) {
        timer = Timer.scheduledTimer(withTimeInterval: 0.5, repeats: true) { timer in
            guard session.connectedPeers.count >= count else { return }
            timer.invalidate()
            action()
        }
    }
}

// idiom: a thread with a run loop for one stream

final class StreamThread {
    private let stream: InputStream
    private let reader: StreamDelegate
    private var isStopped = false

    init(_ stream: InputStream, _ reader: StreamDelegate) { (self.stream, self.reader) = (stream, reader) }

    func start() {
        Thread.detachNewThread { self.run() }
    }

    private func run() {
        stream.delegate = reader
        stream.schedule(in: .current, forMode: .default)
        stream.open()
        while !isStopped { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.1)) }
        stream.close()
    }

    func stop() { isStopped = true }
}
