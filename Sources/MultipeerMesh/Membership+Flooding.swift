import MultipeerCore
import MultipeerIntroduction

/// Telling everybody what is new, at a pace that the receiver bears. Spec 11. [mesh.flood]
extension Membership {
    /// The own entry goes ahead of all others, so that nobody's chatter delays it.
    mutating func enqueueOwnEntry() {
        for (id, link) in graph.links where link.isMesh { graph.links[id]?.enqueue(local, first: true) }
    }

    mutating func enqueue(_ origin: Endpoint, except source: ConnectionID) {
        for (id, link) in graph.links where link.isMesh && id != source { graph.links[id]?.enqueue(origin) }
    }

    /// A new link hears all there is, also what is said of itself: it corrects that if it is wrong.
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

    /// When a link may be told more.
    var flooding: Moment? { graph.links.values.lazy.compactMap(\.deadline).min() }
}
