public import MultipeerFraming
public enum EndReason: Error, Hashable, Sendable { case goodbye, left, lost, superseded, timedOut, full
  case closedByPeer(CloseCode), other(String) }
public enum PeerState: Hashable, Sendable { case notConnected(EndReason), connecting, connected }
package struct Roster: Sendable {
  package enum Event: Sendable { case sought, attemptLost, abandoned(EndReason), linked, linkEnded(EndReason), superseded, left }
  package struct Transition: Sendable { package let state: PeerState }
  package init(seats: Int) {}
  var states: [UID: PeerState] = [:]
  package mutating func handle(_ e: Event, of uid: UID) -> [Transition] {
    let new: PeerState
    switch e {
      case .sought: new = .connecting
      case .attemptLost: return []
      case .abandoned(let r), .linkEnded(let r): new = .notConnected(r)
      case .linked: new = .connected
      case .superseded: return []
      case .left: new = .notConnected(.left)
    }
    states[uid] = new
    return [Transition(state: new)]
  }
  package func state(of uid: UID) -> PeerState { states[uid] ?? .notConnected(.left) }
}
