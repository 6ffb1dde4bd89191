import Multipeer
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

/// Either side dies at any step of an introduction, for good: the other one has one outcome, and is not left connecting.
@Suite("14.1 Peers that die while a link is made", .inTurns)
struct DeathTests {
    enum Manner: CaseIterable, Sendable { case killed, frozen }

    struct Death: Sendable {
        let preference: EncryptionPreference
        let side: Tap.Side
        /// How many records of TLS, or frames and the preface, go by before.
        let steps: Int
    }

    /// Everything that either side sends until the link is established: in TLS hello, certificates, proofs, and inside
    /// it HELLO, CONFIRM and SELECT or SELECTED; on plain connections the preface before those.
    static let deaths = [Tap.Side.dialler, .listener].flatMap { side in
        (0..<11).map { Death(preference: .required, side: side, steps: $0) }
            + (0..<5).map { Death(preference: .none, side: side, steps: $0) }
    }

    @Test(
        "whichever peer dies at whichever step, the other has one outcome in time [state.outcome] [state.serial] [link.deadline]",
        arguments: Manner.allCases)
    func dies(_ manner: Manner) async throws {
        try await eventually { timeLimit in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for death in Self.deaths {
                    group.addTask { try await Self.survive(death, manner, timeLimit) }
                }
                // On a busy machine some did not even come to the step at which they were to die.
                return try await group.reduce(true) { $0 && $1 }
            }
        }
    }

    /// Returns whether it came to the death.
    private static func survive(
        _ death: Death, _ manner: Manner, _ timeLimit: Duration
    ) async throws -> Bool {
        let reaper = Reaper(death, manner)
        let taps = [
            try await Tap { reaper.judge($0, at: 0) }, try await Tap { reaper.judge($0, at: 1) },
        ]
        let brief = Session.Configuration.loopback(death.preference, timeLimit: timeLimit).with {
            $0.keepAliveInterval = .milliseconds(300)
            $0.idleTimeout = .milliseconds(1_500)
        }
        let meeting = try Meeting.annFirst(ann: brief.tapped(by: taps[0]), bob: brief.tapped(by: taps[1]))
        let listeners = [meeting.ann, meeting.bob].map { session in (session, Heard.listening(to: session)) }
        let start = ContinuousClock.now
        _ = try await meeting.attempt()
        #expect(ContinuousClock.now - start < timeLimit + .seconds(15), "\(death)")
        // Linked before the last steps: those are questions then, and answers.
        let hasDied = await reaper.strikes(within: .seconds(5))
        // A peer that was linked meanwhile finds out.
        for (session, heard) in listeners where hasDied {
            try await within { await heard.end() }
            #expect(await session.connectedPeers.isEmpty, "\(death)")
        }
        await meeting.end()
        for (_, heard) in listeners {
            try await within { await heard.end() }
            let states = heard.states
            #expect(states.first == .connecting, "\(death): \(states)")
            for (one, next) in zip(states, states.dropFirst()) {
                let isRight =
                    switch one {
                    case .connecting: next != .connecting
                    case .connected: next.isOver
                    case .notConnected: next == .connecting  // what was lost before it was used
                    }
                #expect(isRight, "\(death): \(states)")
            }
            heard.stop()
        }
        for tap in taps { await tap.stop() }
        return hasDied
    }
}

/// Ends one side at its step, and everything after that.
private final class Reaper: Sendable {
    private struct State {
        var said: [Int: [UInt8]] = [:]
        var hasStruck = false
    }

    private let death: DeathTests.Death
    private let manner: DeathTests.Manner
    private let state = Locked(State())

    init(_ death: DeathTests.Death, _ manner: DeathTests.Manner) {
        self.death = death
        self.manner = manner
    }

    func strikes(within timeLimit: Duration) async -> Bool {
        let end = ContinuousClock.now + timeLimit
        while ContinuousClock.now < end {
            if state.withLock({ $0.hasStruck }) { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    func judge(_ chunk: Tap.Chunk, at tap: Int) -> Tap.Verdict {
        state.withLock { state in
            if state.hasStruck { return manner == .killed ? .cut([]) : .hold }
            guard chunk.from == death.side else { return .pass }
            let flow = chunk.flow * 2 + tap
            let said = state.said[flow, default: []] + chunk.bytes
            state.said[flow] = said
            let end = ends(of: said)
            guard said.count > end else { return .pass }
            state.hasStruck = true
            return manner == .killed ? .cut(Array(chunk.bytes.prefix(max(0, end - chunk.offset)))) : .hold
        }
    }

    /// Where the last step ends that is allowed.
    private func ends(of said: [UInt8]) -> Int {
        var place = 0
        for step in 0..<death.steps {
            if death.preference == .none, step == 0 {
                place += 8
            } else if death.preference == .none {
                guard said.count >= place + 3 else { return .max }
                place += 8 + said[place..<(place + 3)].reduce(0) { $0 << 8 | Int($1) }
            } else {
                guard said.count >= place + 5 else { return .max }
                place += 5 + Int(said[place + 3]) << 8 + Int(said[place + 4])
            }
        }
        return place
    }
}

/// The states that a session reports, as they come.
private final class Heard: Sendable {
    private struct State {
        var all: [PeerState] = []
        var waiting: [Promise<Void>] = []
    }

    private let state = Locked(State())
    private let listening = Locked<Task<Void, Never>?>(nil)

    static func listening(to session: Session) -> Heard {
        let heard = Heard()
        let task = Task { for await event in session.events { heard.hear(event) } }
        heard.listening.withLock { $0 = task }
        return heard
    }

    private func hear(_ event: Session.Event) {
        guard case .peer(_, let new) = event else { return }
        let waiting = state.withLock { state in
            state.all.append(new)
            guard new.isOver else { return [Promise<Void>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.send(()) }
    }

    var states: [PeerState] { state.withLock { $0.all } }

    /// Waits until the peer is not connected, and not connecting either.
    func end() async {
        let signal = Promise<Void>()
        let isOver = state.withLock { state in
            if state.all.last?.isOver != true { state.waiting.append(signal) }
            return state.all.last?.isOver == true
        }
        if !isOver { await signal.value(onCancel: { signal.send(()) }) }
    }

    func stop() { listening.withLock { $0?.cancel() } }
}

extension PeerState {
    fileprivate var isOver: Bool { if case .notConnected = self { true } else { false } }
}
