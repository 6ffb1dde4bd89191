import MultipeerCore
import MultipeerTransport

/// What a session's delegate has been told of its peers, or is about to be.
///
/// ```
///   event ──▶ now: told, and counted
///         ├─▶ held: the session is being left, and nobody knows yet whether the event is older than that
///         └─▶ stale: it is, and its peers have been told off already
/// ```
struct Roster {
    /// One attempt to link with a peer: an invitation, or connection data.
    struct Attempt: Hashable, Sendable {
        let peer: PeerID
        fileprivate let number: Int
    }

    /// What to do with the next event.
    enum Admission: Sendable {
        case now
        case stale
        case held(Promise<Void>)
    }

    private struct Entry {
        let peer: MCPeerID
        var state: MCSessionState
    }

    /// Those that are connecting or connected.
    private var entries: [PeerID: Entry] = [:]
    /// Those that are connected, in their order.
    private var order: [PeerID] = []
    /// Whether the delegate has heard `.notConnected` of the peer since the attempt began.
    private var attempts: [Attempt: Bool] = [:]
    private var lastAttempt = 0

    /// Departures that go on.
    private var departures = 0
    /// Events before this one are of a session that was left.
    private var boundary = 0
    private var release: Promise<Void>?
    /// Events that are over.
    private var seen = 0
    private var observers: [(count: Int, signal: Promise<Void>)] = []
}

// MARK: peers

extension Roster {
    func state(of peer: PeerID) -> MCSessionState { entries[peer]?.state ?? .notConnected }

    var connected: [MCPeerID] { order.compactMap { entries[$0]?.peer } }

    /// The object by which the delegate knows the peer.
    func object(_ peer: PeerID) -> MCPeerID { entries[peer]?.peer ?? MCPeerID(peer) }

    /// The same, only of a peer that is connected.
    func connected(_ peer: PeerID) -> MCPeerID? { state(of: peer) == .connected ? entries[peer]?.peer : nil }

    /// Answers the peer if the delegate has to be told.
    mutating func change(_ peer: PeerID, to state: MCSessionState) -> MCPeerID? {
        guard state != self.state(of: peer) else { return nil }
        let object = object(peer)
        order.removeAll { $0 == peer }
        entries[peer] = state == .notConnected ? nil : Entry(peer: object, state: state)
        if state == .connected { order.append(peer) }
        if state == .notConnected { heardEnd(of: peer) }
        return object
    }
}

// MARK: attempts

extension Roster {
    mutating func begin(_ peer: PeerID) -> Attempt {
        lastAttempt += 1
        let attempt = Attempt(peer: peer, number: lastAttempt)
        attempts[attempt] = false
        return attempt
    }

    mutating func succeed(_ attempt: Attempt) { attempts[attempt] = nil }

    /// Answers the peer if the delegate has to be told that the attempt came to nothing.
    mutating func fail(_ attempt: Attempt) -> MCPeerID? {
        let hasHeard = attempts.removeValue(forKey: attempt) ?? true
        guard !hasHeard, state(of: attempt.peer) == .notConnected else { return nil }
        heardEnd(of: attempt.peer)
        return MCPeerID(attempt.peer)
    }

    private mutating func heardEnd(of peer: PeerID) {
        for attempt in attempts.keys where attempt.peer == peer { attempts[attempt] = true }
    }
}

// MARK: leaving, and the order of events

extension Roster {
    /// Nobody is connected from here on. Answers who has to be told off.
    mutating func leave() -> [MCPeerID] {
        departures += 1
        let gone = entries.values.map(\.peer)
        for peer in entries.keys { heardEnd(of: peer) }
        entries = [:]
        order = []
        return gone
    }

    /// The native session has been left; so many events were before that. Answers who waits for it.
    mutating func hasLeft(after count: Int) -> Promise<Void>? {
        departures -= 1
        boundary = max(boundary, count)
        return departures == 0 ? release.take() : nil
    }

    mutating func admission() -> Admission {
        guard departures > 0 else { return seen < boundary ? .stale : .now }
        let signal = release ?? Promise()
        release = signal
        return .held(signal)
    }

    /// One event is over. Answers who waited for it.
    mutating func count() -> [Promise<Void>] {
        seen += 1
        guard !observers.isEmpty else { return [] }
        let due = observers.filter { $0.count <= seen }
        observers.removeAll { $0.count <= seen }
        return due.map(\.signal)
    }

    /// Answers what to wait for until so many events are over; nil when they are.
    mutating func until(_ count: Int) -> Promise<Void>? {
        guard seen < count else { return nil }
        let signal = Promise<Void>()
        observers.append((count, signal))
        return signal
    }
}
