import MultipeerIntroduction
import MultipeerTransport

/// What a session's delegate has been told of its peers, or is about to be.
struct Roster {
    /// One attempt to link with a peer, which may be an invitation or connection data.
    struct Attempt: Hashable, Sendable {
        let peer: PeerID
        fileprivate let number: Int
    }

    private struct Entry {
        let peer: MCPeerID
        var state: MCSessionState
    }

    private var entries: [PeerID: Entry] = [:]
    private var order: [PeerID] = []
    private var attempts: [Attempt: Bool] = [:]
    private var lastAttempt = 0
    /// Departures that go on.
    private var departures = 0

    func state(of peer: PeerID) -> MCSessionState { entries[peer]?.state ?? .notConnected }

    var connected: [MCPeerID] { order.compactMap { entries[$0]?.peer } }

    /// Nobody is connected from here on; answers who has to be told of.
    mutating func leave() -> [MCPeerID] {
        departures += 1
        let gone = entries.values.map(\.peer)
        for peer in entries.keys { heardEnd(of: peer) }
        entries = [:]
        order = []
        return gone
    }

    mutating func hasLeft(before boundary: Int) -> Signal<Void>? {
        departures -= 1
        return nil
    }

    /// Answers the peer if its delegate has to be told.
    mutating func change(_ peer: PeerID, _ state: MCSessionState) -> MCPeerID? {
        guard state != self.state(of: peer) else { return nil }
        let object = entries[peer]?.peer ?? MCPeerID(peer)
        order.removeAll { $0 == peer }
        switch state {
        case .notConnected:
            entries[peer] = nil
            heardEnd(of: peer)
        case .connecting: entries[peer] = Entry(peer: object, state: state)
        case .connected:
            entries[peer] = Entry(peer: object, state: state)
            order.append(peer)
        }
        return object
    }

    mutating func begin(_ peer: PeerID) -> Attempt {
        lastAttempt += 1
        let attempt = Attempt(peer: peer, number: lastAttempt)
        attempts[attempt] = false
        return attempt
    }

    /// Answers the peer if its delegate has to be told that the attempt came to nothing.
    mutating func finish(_ attempt: Attempt, isLinked: Bool) -> MCPeerID? {
        let hasHeard = attempts.removeValue(forKey: attempt) ?? true
        if isLinked || hasHeard || state(of: attempt.peer) != .notConnected { return nil }
        return MCPeerID(attempt.peer)
    }

    private mutating func heardEnd(of peer: PeerID) {
        for attempt in attempts.keys where attempt.peer == peer { attempts[attempt] = true }
    }

    /// The object by which the delegate knows the peer.
    func object(_ peer: PeerID) -> MCPeerID { entries[peer]?.peer ?? MCPeerID(peer) }
}
