package import MultipeerCore
import MultipeerFraming

/// What is known about a peer's link.
public enum PeerState: Hashable, Sendable {
    /// There is no link, for this reason.
    case notConnected(DisconnectReason)
    /// A link is being made.
    case connecting
    /// There is a link.
    case connected
}

/// The state of every peer of a session, and the changes that the application hears, in order. Spec 14.1.
///
/// ```
///   notConnected ──sought──▶ connecting ──linked──▶ connected
///        ▲  ▲                    │                      │
///        │  └──abandoned, left───┘                      │
///        └──────────linkEnded, left─────────────────────┘
/// ```
package struct PeerStateTable: Sendable {
    /// Something that happened to one peer, with the reason if it may end in `notConnected`.
    package enum Event: Equatable, Sendable {
        case sought
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

    /// `maximumLinks`: links at the most. [limit.links]
    package init(maximumLinks: Int = Limits.peers - 1) { self.maximumLinks = maximumLinks }

    package func state(of peer: UID) -> PeerStateMachine.State { states[peer] ?? .notConnected }

    /// The peers in one state, in the order of their ids.
    package func peers(_ state: PeerStateMachine.State) -> [UID] {
        states.filter { $0.value == state }.keys.sorted()
    }

    /// Whether a link to this peer may be made: there is a seat, or it has one. [limit.links]
    package func hasLinkCapacity(for peer: UID) -> Bool {
        state(of: peer) == .connected || states.values.count { $0 == .connected } < maximumLinks
    }

    /// What the application hears of this, in order. [state.serial]
    package mutating func handle(_ event: Event, of peer: UID) -> [Transition] {
        precondition(event != .linked || hasLinkCapacity(for: peer), "a link was made without a seat")
        let (next, heard) = PeerStateMachine.next(state(of: peer), on: event.name)
        states[peer] = next == .notConnected ? nil : next
        return heard.map { Transition(peer, $0.told(event.reason)) }
    }

    /// The session is left: what the application hears, in the order of the ids.
    package mutating func leave() -> [Transition] {
        states.keys.sorted().flatMap { handle(.left, of: $0) }
    }
}

extension PeerStateTable.Event {
    package var name: PeerStateMachine.Event {
        switch self {
        case .sought: .sought
        case .attemptLost: .attemptLost
        case .abandoned: .abandoned
        case .linked: .linked
        case .linkEnded: .linkEnded
        case .superseded: .superseded
        case .left: .left
        }
    }

    /// Why a peer that this leaves not connected is so. [state.reason]
    fileprivate var reason: DisconnectReason {
        switch self {
        case .abandoned(let reason), .linkEnded(let reason): reason
        case .superseded: DisconnectReason(code: .superseded)
        case .left: DisconnectReason(code: .left)
        case .sought, .attemptLost, .linked: DisconnectReason(code: .internal)
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
