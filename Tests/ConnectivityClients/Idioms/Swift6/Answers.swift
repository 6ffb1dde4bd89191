@preconcurrency import MultipeerConnectivity

// Handlers that are called later from another isolation domain, and continuations.

// idiom: an invitation answered from the main actor, with a @Sendable handler

@MainActor
final class Questions {
    private(set) var asking: [(name: String, answer: @Sendable (Bool, MCSession?) -> Void)] = []
    let session = MCSession(peer: MCPeerID(displayName: "questions"))

    func ask(_ name: String, _ answer: @escaping @Sendable (Bool, MCSession?) -> Void) {
        asking.append((name, answer))
    }
    func acceptFirst() { asking.removeFirst().answer(true, session) }
}

final class AskingDelegate: NSObject, MCNearbyServiceAdvertiserDelegate, Sendable {
    let questions: Questions
    init(questions: Questions) { self.questions = questions }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        let name = peerID.displayName
        Task { @MainActor in questions.ask(name, invitationHandler) }
    }
}

// idiom: an invitation answered by an asynchronous function

final class AwaitingDelegate: NSObject, MCNearbyServiceAdvertiserDelegate, Sendable {
    let decide: @Sendable (String) async -> Bool
    init(decide: @escaping @Sendable (String) async -> Bool) { self.decide = decide }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        let session = MCSession(peer: advertiser.myPeerID)
        Task { invitationHandler(await decide(peerID.displayName), session) }
    }
}

// idiom: a certificate checked on an actor

actor TrustBook {
    private var known: Set<Int> = []
    func trusts(_ description: String) -> Bool { known.insert(description.hashValue).inserted }
}

final class TrustingDelegate: QuietSessionDelegate {
    let book = TrustBook()

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void
    ) {
        let text = "\(certificate ?? [])"
        Task { [book] in certificateHandler(await book.trusts(text)) }
    }
}

// idiom: connection data with await

@MainActor
func handshake(_ session: MCSession, with peer: MCPeerID, over send: (Data) async throws -> Data) async throws
{
    let mine = try await session.nearbyConnectionData(forPeer: peer)
    session.connectPeer(peer, withNearbyConnectionData: try await send(mine))
}

// idiom: connection data with its completion handler, resumed once

func connectionData(of session: MCSession, for peer: MCPeerID) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
        session.nearbyConnectionData(forPeer: peer) { data, error in
            continuation.resume(with: data.map { .success($0) } ?? .failure(error ?? MCError(.unknown)))
        }
    }
}

// idiom: a file sent with a continuation, and cancelled with its task

func send(_ file: URL, to peer: MCPeerID, in session: MCSession) async throws {
    let box = ProgressBox()
    try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            box.progress = session.sendResource(at: file, withName: file.lastPathComponent, toPeer: peer) {
                error in
                if let error { done.resume(throwing: error) } else { done.resume() }
            }
        }
    } onCancel: {
        box.progress?.cancel()
    }
}

final class ProgressBox: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Progress?
    var progress: Progress? {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}

// idiom: one file to every peer, in a task group

func share(_ file: URL, in session: MCSession) async -> [String: Bool] {
    await withTaskGroup(of: (String, Bool).self) { group in
        for peer in session.connectedPeers {
            group.addTask {
                do { try await send(file, to: peer, in: session) } catch { return (peer.displayName, false) }
                return (peer.displayName, true)
            }
        }
        return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
}

// idiom: a continuation that the delegate resumes

@MainActor
final class Pairing {
    private var waiting: [MCPeerID: CheckedContinuation<Void, any Error>] = [:]

    func pair(_ peer: MCPeerID, _ browser: MCNearbyServiceBrowser, _ session: MCSession) async throws {
        try await withCheckedThrowingContinuation { continuation in
            waiting[peer] = continuation
            browser.invitePeer(peer, to: session, withContext: nil, timeout: 10)
        }
    }
    nonisolated func changed(_ peer: MCPeerID, _ state: MCSessionState) {
        guard state != .connecting else { return }
        Task { @MainActor in
            waiting.removeValue(forKey: peer)?.resume(
                with: state == .connected ? .success(()) : .failure(MCError(.notConnected)))
        }
    }
}

// idiom: a completion handler that hops to the main actor

@MainActor
final class UploadModel {
    private(set) var status = ""
    private var progress: Progress?

    func upload(_ file: URL, to peer: MCPeerID, in session: MCSession) {
        progress = session.sendResource(at: file, withName: "upload", toPeer: peer) { error in
            let text = error?.localizedDescription ?? "done"
            Task { @MainActor in self.status = text }
        }
    }
}

// idiom: an invitation handler without @Sendable, captured as nonisolated(unsafe)

@MainActor
final class UnsafeAnswer: NSObject, MCNearbyServiceAdvertiserDelegate {
    let session = MCSession(peer: MCPeerID(displayName: "unsafe"))

    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        nonisolated(unsafe) let answer = invitationHandler
        Task { @MainActor in answer(true, self.session) }
    }
}

// idiom: an invitation handler without @Sendable, in an unchecked box

@MainActor
final class BoxedAnswer: NSObject, MCNearbyServiceAdvertiserDelegate {
    private var answer: UncheckedBox<(Bool, MCSession?) -> Void>?

    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        let answer = UncheckedBox(invitationHandler)
        Task { @MainActor in self.answer = answer }
    }
    func decline() { answer?.value(false, nil) }
}
