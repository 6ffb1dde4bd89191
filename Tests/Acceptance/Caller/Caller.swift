import Foundation
import Multipeer
import MultipeerActors

/// One session of the mesh with its actor system, and a record of every call.
actor Caller {
    /// The counts of how calls ended.
    private struct Account {
        var placed = 0
        var results = 0
        var errors = 0
        /// Calls that failed because of the other side, by the code.
        var failures: [String: Int] = [:]
        /// Wrong answers, which must not occur.
        var wrong: [String] = []
        /// The longest time, in seconds, for which a call went on after the other side was known to be lost.
        var longestLoss = 0.0
    }

    /// A call that has not ended.
    private struct Call {
        let peer: PeerID
        /// When the link over which it was sent was known to be lost. The peer may be back long before the call ends.
        var loss: ContinuousClock.Instant?
    }

    private static let atOnce = 8

    nonisolated let session: Session
    nonisolated let system: PeerActorSystem
    private let target: Target
    private let place: URL
    private(set) var linked: Set<PeerID> = []
    private var account = Account()
    private var running: [Int: Call] = [:]
    private var callers = 0

    init(_ peer: PeerID, _ folder: URL) async throws {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        configuration.idleTimeout = .seconds(3)
        configuration.keepAliveInterval = .seconds(1)
        let session = try Session(peer: peer, configuration: configuration)
        let system = try await PeerActorSystem(session)
        try system.register(Target.self)
        try system.register(error: Unlucky.self)
        let target = Target(actorSystem: system)
        try system.receptionist.checkIn(target, as: "targets")
        (self.session, self.system, self.target) = (session, system, target)
        place = folder.appendingPathComponent(peer.displayName + ".data")
    }

    func start() async throws {
        let data = try await session.connectionData(mesh: true)
        try Data(data.bytes).write(to: place, options: .atomic)
        Task {
            for await event in session.events {
                if case .peer(let peer, let state) = event { hear(peer, state) }
            }
        }
    }

    func join(_ data: ConnectionData) {
        // A peer that is gone again is not joined; the process that sends the commands checks the mesh.
        Task { try? await session.connect(with: data) }
    }

    func quit() async { await session.disconnect() }

    private func hear(_ peer: PeerID, _ state: PeerState) {
        switch state {
        case .connected: linked.insert(peer)
        case .notConnected:
            linked.remove(peer)
            for (number, call) in running where call.peer == peer && call.loss == nil {
                running[number]?.loss = .now
            }
        case .connecting: break
        }
    }

    // MARK: calling

    func begin(_ count: Int) {
        for caller in 0..<Caller.atOnce {
            callers += 1
            Task {
                for number in stride(from: caller, to: count, by: Caller.atOnce) { await call(number) }
                callers -= 1
            }
        }
    }

    private func call(_ number: Int) async {
        let others = system.receptionist.find(Target.self, as: "targets").filter {
            $0.id.peer != session.peer
        }
        guard let other = others.randomElement() else {
            // No peer is present at the moment: this is not a call yet.
            try? await Task.sleep(for: .milliseconds(20))
            return await call(number)
        }
        running[number] = Call(peer: other.id.peer)
        account.placed += 1
        do {
            let square =
                number % 5 == 0
                ? try await other.square(number, with: target)
                : try await other.square(number, after: Int.random(in: 0...40))
            if square == number * number {
                account.results += 1
            } else {
                account.wrong.append("\(number): \(square)")
            }
        } catch let error as Unlucky where error.number == number {
            account.errors += 1
        } catch let error as ActorCallError {
            account.failures[error.code.rawValue, default: 0] += 1
        } catch let error as RemoteError {
            // The way back was lost, at the other side.
            account.failures["remote", default: 0] += 1
            if !error.type.hasSuffix("ActorCallError") { account.wrong.append("\(number): \(error)") }
        } catch {
            account.wrong.append("\(number): \(error)")
        }
        settle(number)
    }

    private func settle(_ number: Int) {
        guard let call = running.removeValue(forKey: number), let loss = call.loss else { return }
        let (seconds, attoseconds) = (ContinuousClock.now - loss).components
        account.longestLoss = max(account.longestLoss, Double(seconds) + Double(attoseconds) * 1e-18)
    }

    /// Returns one line: the number of calls, how they ended, and what is left of them.
    func report() -> String {
        let failures = account.failures.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let left = system.underway
        let fields = [
            "callers=\(callers)", "placed=\(account.placed)", "results=\(account.results)",
            "errors=\(account.errors)",
            "running=\(running.count)", "own=\(left.own)", "others=\(left.others)",
            "longest-loss=\(account.longestLoss)", "wrong=\(account.wrong.count)",
        ]
        let wrong = account.wrong.prefix(3).map { $0.replacingOccurrences(of: " ", with: "_") }
        return (["report"] + fields + failures.map { "failed:\($0)" } + wrong).joined(separator: " ")
    }
}
