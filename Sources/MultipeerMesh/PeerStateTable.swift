package import MultipeerCore
import MultipeerFraming

/// The state of the link to a peer.
public enum PeerState: Hashable, Sendable {
    /// There is no link, for this reason.
    case notConnected(DisconnectReason)
    /// A link is being made.
    case connecting
    /// There is a link.
    case connected
}

/// The state of every peer of a session, and the changes that are reported to the application, in order.
/// Spec 14.1.
///
/// ```
///   notConnected ──connectRequested──▶ connecting ──linked──▶ connected
///        ▲  ▲                    │                      │
///        │  └──abandoned, left───┘                      │
///        └──────────linkEnded, left─────────────────────┘
/// ```
package struct PeerStateTable: Sendable {
    /// An event of one peer, with the reason if it may lead to `notConnected`.
    package enum Event: Equatable, Sendable {
        case connectRequested
        case attemptLost
        case abandoned(DisconnectReason)
        case linked
        case linkEnded(DisconnectReason)
        case superseded
        case left
    }

    package struct Transition: Equatable, Sendable {
        package let peer: UID
        package let state: PeerState

        package init(_ peer: UID, _ state: PeerState) {
            self.peer = peer
            self.state = state
        }
    }

    private let maximumLinks: Int
    /// Peers that are not listed are not connected.
    private var states: [UID: PeerStateMachine.State] = [:]

    /// Creates an empty table. `maximumLinks`: the maximum number of links. [limit.links]
    package init(maximumLinks: Int = Limits.peers - 1) { self.maximumLinks = maximumLinks }

    package func state(of peer: UID) -> PeerStateMachine.State { states[peer] ?? .notConnected }

    /// Returns the peers in one state, in the order of their ids.
    package func peers(_ state: PeerStateMachine.State) -> [UID] {
        states.filter { $0.value == state }.keys.sorted()
    }

    /// Returns whether a link to this peer may be made: there is room, or it already has one. [limit.links]
    package func hasLinkCapacity(for peer: UID) -> Bool {
        state(of: peer) == .connected || states.values.count { $0 == .connected } < maximumLinks
    }

    /// Applies an event; returns the changes to report to the application, in order. [state.serial]
    package mutating func handle(_ event: Event, of peer: UID) -> [Transition] {
        precondition(event != .linked || hasLinkCapacity(for: peer), "a link beyond the limit of members")
        let (next, heard) = PeerStateMachine.next(state(of: peer), on: event.name)
        states[peer] = next == .notConnected ? nil : next
        return heard.map { Transition(peer, $0.told(event.reason)) }
    }

    /// Handles the session's leaving; returns the changes to report to the application, in the order of the
    /// ids.
    package mutating func leave() -> [Transition] {
        states.keys.sorted().flatMap { handle(.left, of: $0) }
    }
}

extension PeerStateTable.Event {
    package var name: PeerStateMachine.Event {
        switch self {
        case .connectRequested: .connectRequested
        case .attemptLost: .attemptLost
        case .abandoned: .abandoned
        case .linked: .linked
        case .linkEnded: .linkEnded
        case .superseded: .superseded
        case .left: .left
        }
    }

    /// The reason for a peer that this event leaves unconnected. [state.reason]
    fileprivate var reason: DisconnectReason {
        switch self {
        case .abandoned(let reason), .linkEnded(let reason): reason
        case .superseded: DisconnectReason(code: .superseded)
        case .left: DisconnectReason(code: .left)
        case .connectRequested, .attemptLost, .linked: DisconnectReason(code: .internal)
        }
    }
}

extension PeerStateMachine.State {
    fileprivate func told(_ reason: DisconnectReason) -> PeerState {
        switch self {
        case .notConnected: .notConnected(reason)
        case .connecting: .connecting
        case .connected: .connected
        }
    }
}
