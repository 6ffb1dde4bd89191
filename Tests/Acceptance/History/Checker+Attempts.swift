// Properties 7 and 8: every attempt and file has exactly one end.

extension Checker {
    func transfers() -> [Violation] {
        // Complete at a receiver, by the two members and the file.
        var complete: [String: Line] = [:]
        for line in history.runs.flatMap(\.lines) where line.entry.event == .completed {
            guard line.entry.role == .receiver, line.entry.outcome == Entry.good else { continue }
            complete[Self.key(line.entry.peer, line.entry.me, line.entry.id)] = line
        }
        return history.runs.flatMap { transfers($0, complete) }
    }

    private static func key(_ sender: String?, _ receiver: String?, _ id: String?) -> String {
        "\(sender ?? "") \(receiver ?? "") \(id ?? "")"
    }

    private func transfers(_ run: Run, _ complete: [String: Line]) -> [Violation] {
        var found: [Violation] = []
        var open: [String: Line] = [:]
        var begun: Set<String> = []
        for line in run.lines {
            let entry = line.entry
            let role: Entry.Role? =
                switch entry.event {
                case .offer: .sender
                case .offered: .receiver
                case .completed: entry.role
                default: nil
                }
            guard let role else { continue }
            let key = "\(role) \(entry.peer ?? "") \(entry.id ?? "")"
            if entry.event != .completed {
                if !begun.insert(key).inserted {
                    found.append(
                        Violation(.transfers, line.place, "file \(entry.id ?? "") was offered before"))
                }
                open[key] = line
                continue
            }
            guard let start = open.removeValue(forKey: key) else {
                let text = begun.contains(key) ? "has ended before" : "was never offered"
                found.append(Violation(.transfers, line.place, "file \(entry.id ?? "") \(text)"))
                continue
            }
            if role == .sender, entry.outcome == Entry.good {
                found += counterpart(line, start, complete)
            }
        }
        if run.end == .quit {
            found += open.values.sorted { $0.place.line < $1.place.line }.map {
                Violation(.transfers, $0.place, "no result was reported for file \($0.entry.id ?? "")")
            }
        }
        return found
    }

    /// Checks that a file that the sender reports as complete is complete at the receiver, and the same.
    private func counterpart(_ line: Line, _ offer: Line, _ complete: [String: Line]) -> [Violation] {
        let entry = line.entry
        guard let peer = entry.peer, history.runsByMember[peer] != nil else { return [] }
        guard let other = complete[Self.key(entry.me, peer, entry.id)] else {
            // A member that dies right after the file's end has no time to record it.
            let died = history.disturbances.deaths(of: peer).contains {
                $0 >= offer.entry.t && $0 <= entry.t + 2 * .second
            }
            return died
                ? []
                : [Violation(.transfers, line.place, "file \(entry.id ?? "") was never complete at \(peer)")]
        }
        return other.entry.hash == offer.entry.hash
            ? []
            : [
                Violation(
                    .transfers, other.place,
                    "file \(entry.id ?? "") differs from the file offered at \(offer.place)")
            ]
    }

    // MARK: 8

    func attempts() -> [Violation] {
        history.runs.flatMap { calls($0) + connecting($0) }
    }

    /// Checks the calls of the application.
    private func calls(_ run: Run) -> [Violation] {
        var found: [Violation] = []
        var (open, all): ([String: Line], Set<String>) = ([:], [])
        for line in run.lines {
            let id = line.entry.id ?? ""
            switch line.entry.event {
            case .attempt:
                if !all.insert(id).inserted {
                    found.append(Violation(.attempts, line.place, "attempt \(id) was made before"))
                }
                open[id] = line
            case .outcome:
                guard let start = open.removeValue(forKey: id) else {
                    let text = all.contains(id) ? "a second outcome" : "an outcome without an attempt"
                    found.append(Violation(.attempts, line.place, "\(id) has \(text)"))
                    continue
                }
                found += late(run, from: start, to: line.entry.t)
            default: break
            }
        }
        for line in open.values.sorted(by: { $0.place.line < $1.place.line }) {
            if run.end == .quit {
                found.append(
                    Violation(.attempts, line.place, "attempt \(line.entry.id ?? "") has no outcome"))
            } else {
                found += late(run, from: line, to: run.span.end)
            }
        }
        return found
    }

    /// Checks the reported states: no peer is stuck connecting.
    private func connecting(_ run: Run) -> [Violation] {
        var found: [Violation] = []
        var open: [String: Line] = [:]
        for line in run.lines where line.entry.event == .state {
            guard let peer = line.entry.peer else { continue }
            if let start = open.removeValue(forKey: peer) {
                found += late(run, from: start, to: line.entry.t)
            }
            if line.entry.state == .connecting { open[peer] = line }
        }
        for line in open.values.sorted(by: { $0.place.line < $1.place.line }) {
            if run.end == .quit {
                let peer = line.entry.peer ?? ""
                found.append(Violation(.attempts, line.place, "\(peer) is still connecting at the end"))
            } else {
                found += late(run, from: line, to: run.span.end)
            }
        }
        return found
    }

    private func late(_ run: Run, from start: Line, to end: UInt64) -> [Violation] {
        let timeLimit = UInt64((run.start.timeLimit ?? 30) * 1e9) + limits.tardiness + limits.slack
        let awake = Span(start.entry.t, end).without(history.disturbances.stops(of: run.me))
        let lasted = awake.reduce(0) { $0 + $1.length }
        guard lasted > timeLimit else { return [] }
        return [
            Violation(
                .attempts, start.place,
                "\(start.entry.peer ?? "") was connecting for \(lasted.inSeconds), longer than any timeout"
            )
        ]
    }
}
