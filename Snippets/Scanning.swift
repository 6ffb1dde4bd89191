// One question to a peer, asked in three ways: the samples of "From delegates to distributed actors". A test checks
// that each of them is here. The file is only compiled; the `SkyStep` samples are programs.

import Distributed
import Foundation
import Multipeer
import MultipeerActors
@preconcurrency import MultipeerConnectivity

struct Tile: Codable, Sendable {
    let number: Int
    let pixels: [UInt8]
}

func countStars(on tile: Tile) -> Int { tile.pixels.count { $0 > 200 } }

struct Question: Codable, Sendable {
    let id: UUID
    let tile: Tile
}

struct Answer: Codable, Sendable {
    let id: UUID
    let stars: Int
}

struct TimedOut: Error {}

// MARK: delegates

final class DelegateScanner: NSObject, @unchecked Sendable {
    private let session: MCSession
    private let lock = NSLock()
    private var waiting: [UUID: (peer: MCPeerID, handler: (Result<Int, any Error>) -> Void)] = [:]

    init(_ session: MCSession) {
        self.session = session
        super.init()
        session.delegate = self
    }

    func scan(_ tile: Tile, at peer: MCPeerID, then handler: @escaping (Result<Int, any Error>) -> Void) {
        let question = Question(id: UUID(), tile: tile)
        lock.withLock { waiting[question.id] = (peer, handler) }
        do {
            try session.send(JSONEncoder().encode(question), toPeers: [peer], with: .reliable)
        } catch {
            finish(question.id, .failure(error))
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 10) {
            self.finish(question.id, .failure(TimedOut()))
        }
    }

    private func finish(_ id: UUID, _ result: Result<Int, any Error>) {
        let entry = lock.withLock { waiting.removeValue(forKey: id) }  // the first to arrive resumes it
        entry?.handler(result)
    }
}

extension DelegateScanner: MCSessionDelegate {
    func session(_ session: MCSession, didReceive data: Data, fromPeer peer: MCPeerID) {
        if let question = try? JSONDecoder().decode(Question.self, from: data) {
            let answer = Answer(id: question.id, stars: countStars(on: question.tile))  // and if that fails?
            guard let data = try? JSONEncoder().encode(answer) else { return }
            try? session.send(data, toPeers: [peer], with: .reliable)
        } else if let answer = try? JSONDecoder().decode(Answer.self, from: data) {
            finish(answer.id, .success(answer.stars))
        }
    }

    func session(_ session: MCSession, peer: MCPeerID, didChange state: MCSessionState) {
        guard state == .notConnected else { return }
        let lost = lock.withLock { waiting.filter { $0.value.peer == peer }.map(\.key) }
        for id in lost { finish(id, .failure(MCError(.notConnected))) }
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName name: String, fromPeer peer: MCPeerID
    ) {}

    func session(
        _ session: MCSession, didStartReceivingResourceWithName name: String, fromPeer peer: MCPeerID,
        with progress: Progress
    ) {}

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName name: String, fromPeer peer: MCPeerID,
        at url: URL?, withError error: (any Error)?
    ) {}
}

// MARK: sequences

actor SequenceScanner {
    private let session: Session
    private var waiting: [UUID: (peer: PeerID, waiter: AsyncStream<Result<Int, any Error>>.Continuation)] =
        [:]

    init(_ session: Session) { self.session = session }

    func run() async throws {
        for await event in session.events {
            switch event {
            case .message(let message): try await take(message)
            case .peer(let peer, .notConnected(let reason)):
                for (id, entry) in waiting where entry.peer == peer { finish(id, .failure(reason)) }
            default: break
            }
        }
    }

    func scan(_ tile: Tile, at peer: PeerID) async throws -> Int {
        let question = Question(id: UUID(), tile: tile)
        let (results, waiter) = AsyncStream<Result<Int, any Error>>.makeStream()
        waiting[question.id] = (peer, waiter)
        let clock = Task {
            try await Task.sleep(for: .seconds(10))
            finish(question.id, .failure(TimedOut()))
        }
        defer { clock.cancel() }
        try await session.send([UInt8](JSONEncoder().encode(question)), to: peer)
        for await result in results { return try result.get() }
        throw CancellationError()
    }

    private func take(_ message: Session.Message) async throws {
        let data = Data(message.bytes)
        if let question = try? JSONDecoder().decode(Question.self, from: data) {
            let answer = Answer(id: question.id, stars: countStars(on: question.tile))
            try await session.send([UInt8](JSONEncoder().encode(answer)), to: message.peer)
        } else if let answer = try? JSONDecoder().decode(Answer.self, from: data) {
            finish(answer.id, .success(answer.stars))
        }
    }

    private func finish(_ id: UUID, _ result: Result<Int, any Error>) {
        let entry = waiting.removeValue(forKey: id)
        entry?.waiter.yield(result)
        entry?.waiter.finish()
    }
}

// MARK: actors

distributed actor Observatory {
    typealias ActorSystem = PeerActorSystem

    distributed func scan(_ tile: Tile) -> Int { countStars(on: tile) }
}

func open(_ session: Session) async throws -> (PeerActorSystem, Observatory) {
    let system = try await PeerActorSystem(session)
    try system.register(Observatory.self)
    let mine = Observatory(actorSystem: system)
    try system.receptionist.checkIn(mine, as: "observatories")
    return (system, mine)
}

func ask(_ tile: Tile, _ system: PeerActorSystem) async throws {
    for await observatory in system.receptionist.checkIns(of: Observatory.self, as: "observatories") {
        let stars = try await PeerActorSystem.withTimeout(.seconds(10)) { try await observatory.scan(tile) }
        print("\(stars) stars, says \(observatory.id.peer)")
    }
}

func tell(_ tile: Tile, _ observatory: Observatory) async {
    do {
        print(try await observatory.scan(tile))
    } catch let error as ActorCallError where error.code == .ended {
        print("its link ended: \(error)")  // as soon as the loss is detected
    } catch {
        print("the scan failed: \(error)")  // the error that the method threw, if its type is registered
    }
}
