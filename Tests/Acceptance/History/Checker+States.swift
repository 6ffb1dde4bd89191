// Properties 1, 3 and 6: the states that a member received of its peers.

extension Checker {
    /// The beginnings of the reasons without notification: the other side must have died, been stopped or been
    /// unreachable.
    private static let deaths = ["the peer did not respond in time", "the connection was lost"]

    func states() -> [Violation] { history.runs.flatMap(states) }

    private func states(_ run: Run) -> [Violation] {
        var found: [Violation] = []
        var states: [String: (now: Entry.State, before: Entry.State)] = [:]
        for line in run.lines where line.entry.event == .state {
            guard let peer = line.entry.peer, let next = line.entry.state else {
                found.append(Violation(.states, line.place, "the entry has no peer or no state"))
                continue
            }
            let (now, before) = states[peer] ?? (.notConnected, .notConnected)
            if next == now {
                found.append(Violation(.states, line.place, "\(next) occurs twice for \(peer)"))
            } else if now == .connected, next == .connecting {
                found.append(Violation(.states, line.place, "connecting follows connected for \(peer)"))
            } else if now == .notConnected, next == .connected, before != .connected {
                // Only a link that replaced another one comes without an attempt.
                found.append(Violation(.states, line.place, "connected without connecting for \(peer)"))
            }
            if next == .notConnected, (line.entry.reason ?? "").isEmpty {
                found.append(Violation(.states, line.place, "no reason is given"))
            }
            if now == .connected, next == .notConnected, let reason = line.entry.reason,
                Self.deaths.contains(where: reason.hasPrefix)
            {
                let moment = line.entry.t - min(line.entry.t, limits.slack)
                if !isDisturbed(run, peer, during: Span(moment, line.entry.t)) {
                    found.append(
                        Violation(.states, line.place, "\(peer) was given up, but was alive: \(reason)"))
                }
            }
            states[peer] = (next, now)
        }
        return found
    }

    func cap() -> [Violation] {
        history.runs.flatMap { run -> [Violation] in
            guard let cap = run.start.cap else { return [] }
            var linked: Set<String> = []
            return run.lines.compactMap { line in
                guard line.entry.event == .state, let peer = line.entry.peer else { return nil }
                guard line.entry.state == .connected else {
                    linked.remove(peer)
                    return nil
                }
                linked.insert(peer)
                return linked.count < cap
                    ? nil : Violation(.cap, line.place, "\(linked.count) links, with a cap of \(cap)")
            }
        }
    }

    func rest() -> [Violation] {
        struct View {
            let place: Place
            let me: String
            let members: Set<String>
            let isStar: Bool
        }
        var views: [String: [View]] = [:]
        for run in history.runs {
            var linked: Set<String> = []
            for line in run.lines {
                switch (line.entry.event, line.entry.peer) {
                case (.state, let peer?) where line.entry.state == .connected: linked.insert(peer)
                case (.state, let peer?): linked.remove(peer)
                case (.rest, _):
                    let view = View(
                        place: line.place, me: run.me, members: linked.union([run.me]),
                        isStar: run.start.topology == .star)
                    views[line.entry.mark ?? "", default: []].append(view)
                default: break
                }
            }
        }
        return views.sorted { $0.key < $1.key }.flatMap { mark, views -> [Violation] in
            views.flatMap { view in
                views.compactMap { other in
                    guard view.me != other.me, view.members.contains(other.me) else { return nil }
                    let isEqual =
                        view.isStar || other.isStar
                        ? other.members.contains(view.me) : view.members == other.members
                    let difference = view.members.symmetricDifference(other.members).sorted()
                    return isEqual
                        ? nil
                        : Violation(
                            .rest, view.place,
                            "at mark '\(mark)' it and \(other.me) (\(other.place)) differ by \(difference)")
                }
            }
        }
    }
}
