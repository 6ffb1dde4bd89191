package import MultipeerCore

/// Which of the verified connections to one endpoint becomes the link: the tie-break between two dials that cross (glare),
/// by nomination, as in ICE (RFC 8445, 8.1). Spec 6.4 and 6.5.
///
/// ```
/// controlling (the lower uid)            controlled
///   verified ──▶ nominated ──SELECTED──▶ link     verified ──SELECT──▶ link ◀──link ended, or no PONG─┐
///        ▲            │ died                         └──SELECT, a link exists──▶ waiting ─────────────┘
///        └────────────┘ next candidate                                              └──PONG──▶ duplicate
/// ```
///
/// Hashable and small, so that every interleaving can be explored.
package struct Selection: Hashable, Sendable {
    package enum Part: Hashable, Sendable { case controlling, controlled }

    package enum Action: Hashable, Sendable {
        case select(ConnectionID)
        case selected(ConnectionID)
        /// This connection is the link from now on.
        case linked(ConnectionID)
        /// This link is over because the peer selected a newer connection.
        case superseded(ConnectionID)
        /// Probe the link to check whether its peer still responds.
        case probe(ConnectionID)
        case duplicate(ConnectionID)
        case outOfTurn(ConnectionID)
        case full(ConnectionID)
    }

    package let part: Part
    package private(set) var candidates: [ConnectionID] = []
    package private(set) var nominated: ConnectionID?
    package private(set) var link: ConnectionID?
    /// The connection on which SELECT arrived while the link was up: it waits for the result of the probe.
    package private(set) var waiting: ConnectionID?
    package private(set) var isProbing = false

    package init(_ part: Part, holding link: ConnectionID? = nil) {
        self.part = part
        self.link = link
    }

    /// Returns the selection with only the candidates in `kept`. [select.pending]
    package func keeping(_ kept: [ConnectionID]) -> Selection {
        var selection = self
        selection.candidates.removeAll { !kept.contains($0) }
        if let nominated, !kept.contains(nominated) { selection.nominated = nil }
        if let waiting, !kept.contains(waiting) { selection.waiting = nil }
        return selection
    }

    /// Whether a connection is verified and there is no link yet.
    package var isUndecided: Bool { link == nil && (nominated != nil || !candidates.isEmpty) }

    /// Whether other connections are waiting to replace the link.
    package var hasRivals: Bool { waiting != nil || !candidates.isEmpty }

    /// Handles a connection that passed CONFIRM. `linkIsSettled`: the current link, if any, is older than two seconds.
    package mutating func verified(
        _ connection: ConnectionID, hasLinkCapacity: Bool, linkIsSettled: Bool
    ) -> [Action] {
        guard part == .controlling, let link else {
            candidates.append(connection)
            return nominate(hasLinkCapacity: hasLinkCapacity)
        }
        guard linkIsSettled || isProbing else { return [.duplicate(connection)] }
        candidates.append(connection)
        if isProbing { return [] }
        isProbing = true
        return [.probe(link)]  // [stale.probe]
    }

    /// Handles SELECT from the other side.
    package mutating func selectArrived(on connection: ConnectionID, hasLinkCapacity: Bool) -> [Action] {
        guard part == .controlled, let place = candidates.firstIndex(of: connection) else {
            return [.outOfTurn(connection)]  // [select.lower]
        }
        candidates.remove(at: place)
        guard let link else { return accept(connection, hasLinkCapacity: hasLinkCapacity) }
        // SELECT states that its sender has no link to us, and each later one makes the earlier void. The link may still
        // deliver what was sent before its end, or be alive: it is probed. [stale.supersede]
        let former = waiting.map { [Action.duplicate($0)] } ?? []
        waiting = connection
        if isProbing { return former }
        isProbing = true
        return former + [.probe(link)]
    }

    private mutating func accept(_ connection: ConnectionID, hasLinkCapacity: Bool) -> [Action] {
        guard hasLinkCapacity else { return [.full(connection)] }
        link = connection
        return [.selected(connection), .linked(connection)]  // [select.answer]
    }

    /// Handles SELECTED from the other side.
    package mutating func selectedArrived(on connection: ConnectionID) -> [Action] {
        guard part == .controlling, nominated == connection else { return [.outOfTurn(connection)] }
        nominated = nil
        link = connection
        return [.linked(connection)] + dismiss()
    }

    /// Handles the end of a connection in any role: lost, closed, or a link that did not respond to its probe.
    package mutating func died(_ connection: ConnectionID, hasLinkCapacity: Bool) -> [Action] {
        candidates.removeAll { $0 == connection }
        if nominated == connection { nominated = nil }
        if waiting == connection { waiting = nil }
        guard link == connection else { return nominate(hasLinkCapacity: hasLinkCapacity) }  // [select.next]
        link = nil
        isProbing = false
        guard let waiting = waiting.take() else { return nominate(hasLinkCapacity: hasLinkCapacity) }
        return accept(waiting, hasLinkCapacity: hasLinkCapacity)  // [stale.supersede]
    }

    /// Handles a response to the probe: the connection that waited for the link's place is dropped.
    package mutating func probeAnswered() -> [Action] {
        guard isProbing else { return [] }
        isProbing = false
        guard part == .controlled else { return dismiss() }
        return waiting.take().map { [.duplicate($0)] } ?? []  // [stale.supersede]
    }

    /// Replaces a link that did not respond to the probe in time with the connection on which SELECT arrived.
    package mutating func supersede() -> [Action] {
        guard let old = link, let fresh = waiting.take() else { return [] }
        isProbing = false
        return [.superseded(old)] + accept(fresh, hasLinkCapacity: true)  // [stale.supersede]
    }

    private mutating func nominate(hasLinkCapacity: Bool) -> [Action] {
        guard part == .controlling, link == nil, nominated == nil, !candidates.isEmpty else { return [] }
        let chosen = candidates.removeFirst()
        guard hasLinkCapacity else { return [.full(chosen)] }
        nominated = chosen
        return [.select(chosen)]  // [select.one]
    }

    private mutating func dismiss() -> [Action] {
        defer { candidates = [] }
        return candidates.map { .duplicate($0) }  // [select.duplicates]
    }
}
