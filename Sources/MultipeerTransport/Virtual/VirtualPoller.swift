/// Finds the sockets of a simulated machine that are ready for one of its loops. On the loop's thread alone.
final class VirtualPoller {
    private struct Watched {
        let descriptor: Int32
        let interest: Readiness
        let key: UInt64
    }

    private let host: VirtualHost?
    /// By their descriptors, so that their order is always the same.
    private var watched: [Watched] = []
    private(set) var found: [(key: UInt64, readiness: Readiness)] = []
    /// Those that may be ready since the last poll: they were then, or are watched for something else now.
    private var suspects: [Watched] = []

    init(_ host: VirtualHost?) { self.host = host }

    /// Also replaces the previous interest.
    func add(_ descriptor: Int32, _ interest: Readiness, key: UInt64) {
        let entry = Watched(descriptor: descriptor, interest: interest, key: key)
        suspects.append(entry)
        let index = watched.firstIndex { $0.descriptor >= descriptor } ?? watched.count
        if index < watched.count, watched[index].descriptor == descriptor {
            watched[index] = entry
        } else {
            watched.insert(entry, at: index)
        }
    }

    func remove(_ descriptor: Int32) { watched.removeAll { $0.descriptor == descriptor } }

    func look() -> Int {
        found.removeAll(keepingCapacity: true)
        suspects.removeAll(keepingCapacity: true)
        for entry in watched {
            guard let readiness = readiness(of: entry) else { continue }
            found.append((entry.key, readiness))
            suspects.append(entry)
        }
        return found.count
    }

    /// Whether any is ready. Nothing arrives during a turn, so only those can be ready for the next one.
    var hasEvents: Bool {
        suspects.contains { suspect in
            guard readiness(of: suspect) != nil else { return false }
            return watched.contains { $0.key == suspect.key && $0.interest == suspect.interest }
        }
    }

    private func readiness(of entry: Watched) -> Readiness? {
        let found = host?.readiness(of: entry.descriptor) ?? []
        let readiness = found.intersection(entry.interest.union(.failed))
        return readiness.isEmpty ? nil : readiness
    }
}
