import MultipeerConnectivity

/// Which peers' messages and files of which round were received, and which peers have ours.
///
/// A device goes to the background, or leaves, once it has everything of a round from all others, and has their
/// acknowledgements. So a device that leaves has everything of ours, whether or not its acknowledgement arrived.
struct Exchange {
    let people: Int
    let rounds: Int
    private(set) var round = 1
    private var hellos: [MCPeerID: Set<Int>] = [:]
    private var files: [MCPeerID: Set<Int>] = [:]
    private var thanks: [MCPeerID: Set<Int>] = [:]
    /// The round for which each peer was last greeted.
    private var greeted: [MCPeerID: Int] = [:]

    init(people: Int, rounds: Int) { (self.people, self.rounds) = (people, rounds) }

    /// Records a message; returns the round to acknowledge.
    mutating func note(_ message: Message, from peer: MCPeerID) -> Int? {
        switch message {
        case .hello(let round):
            hellos[peer, default: []].insert(round)
            return has(round, of: peer) ? round : nil
        case .thanks(let round):
            thanks[peer, default: []].insert(round)
            return nil
        case .text: return nil
        }
    }

    /// Records a file; returns the round to acknowledge.
    mutating func note(file name: String, from peer: MCPeerID) -> Int? {
        guard let round = Exchange.round(ofFile: name) else { return nil }
        files[peer, default: []].insert(round)
        return has(round, of: peer) ? round : nil
    }

    /// Returns the message to a peer that has just connected.
    mutating func greet(_ peer: MCPeerID) -> Message {
        greeted[peer] = round
        return .hello(round: round)
    }

    mutating func noteLeaving(of peer: MCPeerID) {
        if greeted[peer] == round, has(round, of: peer) { thanks[peer, default: []].insert(round) }
        greeted[peer] = nil
    }

    /// Whether all devices have everything of this round.
    var isRoundOver: Bool {
        thanks.count { $0.value.contains(round) && has(round, of: $0.key) } >= people
    }

    var isLast: Bool { round == rounds }

    mutating func beginNext() { round += 1 }

    private func has(_ round: Int, of peer: MCPeerID) -> Bool {
        hellos[peer]?.contains(round) == true && files[peer]?.contains(round) == true
    }

    static func file(of round: Int) -> String { "round \(round)" }

    private static func round(ofFile name: String) -> Int? {
        name.hasPrefix("round ") ? Int(name.dropFirst(6)) : nil
    }
}
