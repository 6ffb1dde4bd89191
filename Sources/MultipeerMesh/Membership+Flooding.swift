import MultipeerCore
import MultipeerHandshake

/// Flooding of new entries, at a rate that the receiver accepts. Spec 11. [mesh.flood]
extension Membership {
    /// Queues our own entry before all others, so that they do not delay it.
    mutating func enqueueOwnEntry() {
        for (id, link) in graph.links where link.isMesh { graph.links[id]?.enqueue(local, first: true) }
    }

    mutating func enqueue(_ origin: Endpoint, except source: ConnectionID) {
        for (id, link) in graph.links where link.isMesh && id != source { graph.links[id]?.enqueue(origin) }
    }

    /// Queues every entry for a new link, including those about its peer: the peer corrects them if they are
    /// wrong.
    mutating func enqueueEverything(for id: ConnectionID) {
        if own != nil { graph.links[id]?.enqueue(local, first: true) }
        for origin in graph.database.keys.sorted(by: <) { graph.links[id]?.enqueue(origin) }
    }

    mutating func tellWhatIsDue() -> [Action] {
        var actions: [Action] = []
        for id in graph.links.keys.sorted() {
            while let origin = graph.links[id]?.next(at: now) {
                guard let entry = origin == local ? own : graph.database[origin]?.entry else { continue }
                actions.append(.tell(id, entry))
            }
        }
        return actions
    }

    /// The time at which a link may be sent more entries.
    var flooding: Moment? { graph.links.values.lazy.compactMap(\.deadline).min() }
}
