import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh

/// A model of the entries that are sent on each mesh link: never too fast, only those that are held, and in the end all
/// of them.
struct DeliveryModel {
    private struct Line {
        var tokens = 32.0
        var filled: Moment
        /// The entries that the other end has from us.
        var told: [Endpoint: Members] = [:]
        /// The last sequences that the other end sent us.
        var came: [Endpoint: Set<UInt32>] = [:]
        /// Endpoints of which the other end has sent a different entry after ours: ours may be news there again.
        var contradicted: Set<Endpoint> = []
    }

    private var lines: [ConnectionID: Line] = [:]

    mutating func linked(_ id: ConnectionID, at now: Moment) { lines[id] = Line(filled: now) }
    mutating func unlinked(_ id: ConnectionID) { lines[id] = nil }
    mutating func came(_ entry: Members, on id: ConnectionID) {
        lines[id]?.came[entry.origin, default: []].insert(entry.sequence)
        if let told = lines[id]?.told[entry.origin], told != entry {
            lines[id]?.contradicted.insert(entry.origin)
        }
    }

    mutating func judge(_ actions: [Membership.Action], _ model: MembershipModel) throws(BrokenPromise) {
        // An entry that was dropped and comes again is new, and is sent again.
        let origins = Set(model.entries.map(\.origin))
        for id in lines.keys {
            if let told = lines[id]?.told { lines[id]?.told = told.filter { origins.contains($0.key) } }
        }
        for action in actions {
            guard case .tell(let id, let entry) = action else { continue }
            try promise(model.entries.contains(entry), "an entry was sent that is not held")
            guard var line = lines[id] else {
                throw BrokenPromise(description: "an entry was sent on a direct link")
            }
            let isNews = line.contradicted.remove(entry.origin) != nil || line.told[entry.origin] != entry
            try promise(isNews, "an entry was sent twice")
            line.told[entry.origin] = entry
            let passed = Double((model.now - line.filled).wholeNanoseconds) / 1e9
            line.tokens = min(32, line.tokens + passed * 15.001) - 1
            line.filled = model.now
            try promise(line.tokens >= -0.01, "entries were sent faster than the rate limit")
            lines[id] = line
        }
    }

    func everythingIsTold(_ model: MembershipModel) throws(BrokenPromise) {
        for (id, line) in lines {
            for entry in model.entries where line.told[entry.origin] != entry {
                let came = line.came[entry.origin]?.contains(entry.sequence) ?? false
                try promise(
                    came && entry.origin != model.local, "the entry of \(entry.origin) was not sent on \(id)")
            }
        }
    }
}
