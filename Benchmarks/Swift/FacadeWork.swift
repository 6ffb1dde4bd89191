import Multipeer
import MultipeerBenchCommon
import MultipeerConnectivity
import Synchronization

/// The measurements through Apple's API: a session and its delegate, as most applications have them, and no task.
///
/// The delegate counts on the session's own queue; the thread that measures reads the counts after a semaphore.
final class FacadeWork: NSObject {
    private let assignment: Assignment
    private let session: MCSession
    private let clock = SuspendingClock()
    private let connected = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    private let left = DispatchSemaphore(value: 0)
    private var peers: [MCPeerID] = []
    private let message: Data
    private var report = Report()
    private var began = SuspendingClock().now
    private var stream: InputStream?
    private var failure: (any Error)?

    /// Measures on a thread of its own, which may block.
    static func run(_ assignment: Assignment) async throws -> Report {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FacadeWork(assignment).measure() })
            }
        }
    }

    private init(_ assignment: Assignment) throws {
        self.assignment = assignment
        message = Data(repeating: 0x5A, count: assignment.size)
        var configuration = Session.Configuration.facade
        configuration.listenAddresses = [.loopback]
        session = MCSession(
            peer: MCPeerID(try Party.peer(assignment.side)), securityIdentity: nil,
            encryptionPreference: .required, configuration: configuration)
        super.init()
        session.delegate = self
    }

    private func measure() throws -> Report {
        let other = try connect()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("source")
        if assignment.side == .client, assignment.mode == .facaderesource {
            try FileWork.fill([file], assignment.size)
        }
        let before = Resources.cpuSeconds
        began = clock.now
        switch (assignment.side, assignment.mode) {
        case (.client, .facadepingpong): try ping(other)
        case (.client, .facadestream): try write(to: other)
        case (.client, .facaderesource): sendFile(file, to: other)
        case (.client, _): for _ in 0..<assignment.count { try send(message, to: other) }
        case (.server, .facadestream): try read(from: other)
        case (.server, _): break
        }
        // The server's answer, or the last of what was expected.
        done.wait()
        if let failure { throw failure }
        if assignment.side == .server {
            left.wait()
        } else if report.latencies.isEmpty {
            report.seconds = clock.seconds(since: began)
            report.sent = assignment.count
        }
        report.cpuSeconds = Resources.cpuSeconds - before
        session.disconnect()
        return report
    }

    /// Sends as soon as there is room: the call never waits.
    private func send(_ data: Data, to peer: MCPeerID) throws {
        while true {
            do {
                return try session.send(data, toPeers: [peer], with: .reliable)
            } catch let error as MCError where error.code == .unavailable {
                usleep(500)
            }
        }
    }

    // MARK: connecting

    private func connect() throws -> MCPeerID {
        let mine = try NSKeyedArchiver.archivedData(
            withRootObject: session.myPeerID, requiringSecureCoding: true)
        let peer: MCPeerID
        switch assignment.side {
        case .client:
            Introduction.print([UInt8](mine))
            peer = try readPeer()
            Introduction.print([UInt8](try connectionData(for: peer)))
            session.connectPeer(peer, withNearbyConnectionData: Data(try Introduction.readBytes()))
        case .server:
            peer = try readPeer()
            Introduction.print([UInt8](mine))
            let theirs = Data(try Introduction.readBytes())
            let data = try connectionData(for: peer)
            session.connectPeer(peer, withNearbyConnectionData: theirs)
            usleep(2_000)
            Introduction.print([UInt8](data))
        }
        connected.wait()
        return peer
    }

    private func readPeer() throws -> MCPeerID {
        let archive = Data(try Introduction.readBytes())
        guard let peer = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive) else {
            throw BenchFault.noIntroduction
        }
        return peer
    }

    private func connectionData(for peer: MCPeerID) throws -> Data {
        let made = DispatchSemaphore(value: 0)
        let answer = Mutex<Data?>(nil)
        session.nearbyConnectionData(forPeer: peer) { data, _ in
            answer.withLock { $0 = data }
            made.signal()
        }
        made.wait()
        guard let data = answer.withLock({ $0 }) else { throw BenchFault.noIntroduction }
        return data
    }

    // MARK: the client

    private func ping(_ peer: MCPeerID) throws {
        report.latencies.reserveCapacity(assignment.count)
        report.sent = 1
        try send(message, to: peer)
    }

    private func write(to peer: MCPeerID) throws {
        let output = try session.startStream(withName: "bench", toPeer: peer)
        output.open()
        let piece = [UInt8](repeating: 0x5A, count: assignment.size)
        for _ in 0..<assignment.count {
            var written = 0
            while written < piece.count {
                let rest = written == 0 ? piece : [UInt8](piece[written...])
                let count = unsafe output.write(rest, maxLength: rest.count)
                guard count > 0 else { throw BenchFault.endedEarly }
                written += count
            }
        }
        output.close()
    }

    private func sendFile(_ file: URL, to peer: MCPeerID) {
        session.sendResource(at: file, withName: "source", toPeer: peer) { @Sendable [done] error in
            if error == nil { done.signal() }
        }
    }

    // MARK: the server

    private func read(from peer: MCPeerID) throws {
        connected.wait()  // the stream
        guard let stream else { throw BenchFault.endedEarly }
        stream.open()
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        var received = 0
        while true {
            let count = unsafe stream.read(&piece, maxLength: piece.count)
            guard count >= 0 else { throw stream.streamError ?? BenchFault.endedEarly }
            if count == 0 { break }
            received += count
        }
        guard received == assignment.size * assignment.count else { throw BenchFault.wrongLength(received) }
        report.received = assignment.count
        try send(Data([0x5A]), to: peer)
        done.signal()
    }
}

extension FacadeWork: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connected: connected.signal()
        case .notConnected: left.signal()
        default: break
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        do {
            switch (assignment.side, assignment.mode) {
            case (.client, .facadepingpong): try takeAnswer(data, from: peerID)
            case (.client, _): done.signal()
            case (.server, _): try count(data, from: peerID)
            }
        } catch {
            failure = error
            done.signal()
        }
    }

    private func takeAnswer(_ data: Data, from peer: MCPeerID) throws {
        report.latencies.append(clock.seconds(since: began))
        report.received += 1
        if report.received == assignment.count { return _ = done.signal() }
        report.sent += 1
        began = clock.now
        try send(data, to: peer)
    }

    private func count(_ data: Data, from peer: MCPeerID) throws {
        guard data.count == assignment.size, data.first == 0x5A else {
            throw BenchFault.wrongLength(data.count)
        }
        report.received += 1
        if assignment.mode == .facadepingpong { try send(data, to: peer) }
        guard report.received == assignment.count else { return }
        if assignment.mode == .facademessages { try send(Data([0x5A]), to: peer) }
        done.signal()
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        self.stream = stream
        connected.signal()
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        do {
            if let error { throw error }
            guard let localURL else { throw BenchFault.endedEarly }
            let size = try FileManager.default.attributesOfItem(atPath: localURL.path)[.size] as? Int
            guard size == assignment.size else { throw BenchFault.wrongLength(size ?? 0) }
            report.received += 1
        } catch {
            failure = error
        }
        done.signal()
    }
}
