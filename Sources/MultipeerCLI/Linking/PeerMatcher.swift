import MultipeerCommandLine
package import MultipeerEssentials

/// The peers that discovery reports, and which of them match a selector. Pure: the caller has the clock.
package struct PeerMatcher: Sendable {
    package enum Verdict: Equatable, Sendable {
        /// No match yet, or one match while a second may still be reported.
        case open
        case found(PeerID)
        /// All of these match.
        case several([PeerID])
    }

    /// How long several peers with one name take to answer.
    package enum Reach: Sendable {
        /// All are on this machine, and were asked at the same time as the first.
        case machine
        /// They are asked by two queries, at once and 20 to 120 ms later, and answer each after 20 to 120 ms. Spec 12.6.
        case network
    }

    private let selector: PeerSelector
    /// The purpose of the local peer: only peers that suit it match; nil if all do.
    private let role: PeerRole?
    private let isWhole: Bool
    private let reach: Reach
    private let store: TrustStore
    private var peers: [PeerID: DiscoveredPeer] = [:]
    /// When the first match was found.
    private var first: Duration?

    /// `isWhole`: the beginning of a name is not enough, because the user is not asked about the peer that has it.
    /// `store`: the peers that were verified before.
    package init(
        for selector: PeerSelector, as role: PeerRole?, isWhole: Bool = false, within reach: Reach = .network,
        knowing store: TrustStore = TrustStore()
    ) {
        self.store = store
        self.selector = selector
        self.role = role
        self.isWhole = isWhole
        self.reach = reach
    }

    package mutating func note(_ event: DiscoveredPeer.Event, at time: Duration) {
        switch event {
        case .found(let peer), .updated(let peer): peers[peer.peer] = peer
        case .lost(let peer): peers[peer] = nil
        }
        first = matches.isEmpty ? nil : first ?? time
    }

    package func verdict(at time: Duration) -> Verdict {
        guard let deadline, let one = matches.first else { return .open }
        if selector.isExact { return .found(one) }
        if let known { return .found(known) }
        guard time >= deadline else { return .open }
        return matches.count == 1 ? .found(one) : .several(matches)
    }

    /// When to ask for the verdict again if nothing happens; nil while there is no match. Times count from the first query.
    package var deadline: Duration? {
        first.map { first in
            switch reach {
            // On a busy machine the first took longer, too.
            case .machine: first + min(max(first * 8, .milliseconds(10)), PeerMatcher.spread)
            case .network: max(first + PeerMatcher.spread, .milliseconds(300))
            }
        }
    }

    /// Longer than the difference between two answers to one query.
    private static let spread = Duration.milliseconds(150)

    /// The only peer with that name that was ever verified. It is meant, even if others use the name, and no other can pass
    /// for it: its host has to prove the key of its id before anything is sent to it.
    private var known: PeerID? {
        guard let name = selector.name else { return nil }
        let entries = store.entries(named: name)
        guard entries.count == 1, let entry = entries.first, entry.verifiedBy != nil else { return nil }
        return matches.first {
            $0.uid.isKeyed && $0.uid == entry.peer && $0.displayName == name && entry.name == name
        }
    }

    /// Returns the other peers that match as well as this one, unless it is certain that this one is meant.
    package func others(than peer: PeerID) -> [PeerID] {
        selector.isExact || known == peer ? [] : matches.filter { $0 != peer }
    }

    /// Whether no peer at all is there, as where multicast does not work.
    package var isAlone: Bool { peers.isEmpty }

    /// Why no match was found, for people.
    package var summary: String {
        let command = role.map { "'\(Terminal.name) \($0.counterpart ?? $0.command)'" } ?? "a command"
        let meant = selector.matches(peers.values.map(\.peer), isWhole: isWhole)
        if let one = meant.sorted(by: { $0.uid < $1.uid }).first {
            return "\(one.introduction) is online with another command; run \(command) there"
        }
        let names = candidates.map(\.introduction)
        guard !names.isEmpty else { return "is \(command) running there?" }
        let more = names.count > 8 ? " and \(names.count - 8) more" : ""
        return "did you mean \(names.prefix(8).joined(separator: ", "))\(more)?"
    }

    /// The only peer whose name is nearly the one that is looked for, as long as no peer has that.
    package var near: PeerID? {
        guard matches.isEmpty, let name = selector.name else { return nil }
        let nearest = Spelling.nearest(name, of: candidates.map(\.displayName))
        return candidates.first { $0.displayName == nearest }
    }

    private var candidates: [PeerID] {
        peers.values.filter { peer in role.map { PeerRole(info: peer.info).map($0.suits) == true } ?? true }
            .map(\.peer).sorted { ($0.displayName, $0.uid) < ($1.displayName, $1.uid) }
    }

    private var matches: [PeerID] { selector.matches(candidates, isWhole: isWhole) }
}
