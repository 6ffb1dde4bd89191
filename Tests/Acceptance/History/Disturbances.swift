/// The faults that the nemesis injected: into which members, and from when to when.
package struct Disturbances: Sendable {
    private struct Cut: Sendable {
        let peers: Set<String>
        let span: Span
    }

    private var deaths: [String: [UInt64]] = [:]
    private var stops: [String: [Span]] = [:]
    private var cuts: [Cut] = []

    init(_ lines: [Line]) {
        var stopped: [String: UInt64] = [:]
        var open: [String: (Set<String>, UInt64)] = [:]
        for line in lines.sorted(by: { $0.entry.t < $1.entry.t }) {
            let entry = line.entry
            // Several nemeses may be active at once, each with numbers of its own.
            let cut = "\(line.place.file) \(entry.id ?? "")"
            switch entry.event {
            case .kill:
                if let peer = entry.peer { deaths[peer, default: []].append(entry.t) }
            case .stop:
                if let peer = entry.peer { stopped[peer] = entry.t }
            case .continue:
                if let peer = entry.peer, let start = stopped.removeValue(forKey: peer) {
                    stops[peer, default: []].append(Span(start, entry.t))
                }
            case .cut: open[cut] = (Set(entry.peers ?? []), entry.t)
            case .heal:
                if let (peers, start) = open.removeValue(forKey: cut) {
                    cuts.append(Cut(peers: peers, span: Span(start, entry.t)))
                }
            default: break
            }
        }
        for (peer, start) in stopped { stops[peer, default: []].append(Span(start, .max)) }
        for (peers, start) in open.values { cuts.append(Cut(peers: peers, span: Span(start, .max))) }
    }

    /// Returns when a member was killed, in order.
    package func deaths(of peer: String) -> [UInt64] { deaths[peer] ?? [] }

    /// Returns when a member was stopped.
    package func stops(of peer: String) -> [Span] { stops[peer] ?? [] }

    /// Returns when nothing passed between two members.
    package func cuts(between one: String, and other: String) -> [Span] {
        cuts.filter { $0.peers.contains(one) != $0.peers.contains(other) }.map(\.span)
    }

    /// Returns everything that can make two members see different things for a while.
    package func all(between one: String, and other: String) -> [Span] {
        [one, other].flatMap { stops(of: $0) + deaths(of: $0).map { Span($0, $0) } }
            + cuts(between: one, and: other)
    }
}
