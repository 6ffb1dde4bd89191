// Property 2: two members agree on whether they are connected, except for the time that notifications take.

extension Checker {
    func symmetry() -> [Violation] {
        history.runs.flatMap { run in
            run.links.flatMap { link -> [Violation] in
                guard history.runsByMember[link.peer] != nil else { return [] }
                return silent(run, link) + alone(run, link)
            }
        }
    }

    /// Checks that a peer that sends nothing any more, because it is stopped or cut off, is given up in time.
    private func silent(_ run: Run, _ link: Run.Link) -> [Violation] {
        let disturbances = history.disturbances
        let silences =
            disturbances.stops(of: link.peer) + disturbances.cuts(between: run.me, and: link.peer)
        return silences.compactMap { silence in
            guard link.span.start < silence.start, silence.start < link.span.end else { return nil }
            var deadline = silence.start + silentDeath(run)
            // A member that is stopped notices nothing; it has the same time again from its continuation.
            for stop in disturbances.stops(of: run.me).sorted(by: { $0.start < $1.start })
            where stop.start <= deadline && stop.end >= silence.start {
                deadline = max(
                    deadline, stop.end == .max ? .max : stop.end + silentDeath(run))
            }
            guard link.span.end > deadline, silence.end > deadline else { return nil }
            return Violation(
                .symmetry, link.start,
                "\(link.peer) sent nothing from \(silence.start) on, and was still connected "
                    + "\((link.span.end - silence.start).inSeconds) later")
        }
    }

    /// Finds the periods of the link during which the other side had none.
    private func alone(_ run: Run, _ link: Run.Link) -> [Violation] {
        stretches(run, link).compactMap { piece, isDisturbed in
            let limit = isDisturbed ? silentDeath(run) : limits.told + limits.slack
            guard piece.length > limit else { return nil }
            return Violation(
                .symmetry, link.start,
                "connected to \(link.peer), which was not, for \(piece.length.inSeconds) from \(piece.start) on"
            )
        }
    }

    private func stretches(_ run: Run, _ link: Run.Link) -> [(Span, isDisturbed: Bool)] {
        let disturbances = history.disturbances
        let others = (history.runsByMember[link.peer] ?? []).flatMap(\.links).filter { $0.peer == run.me }
        // What a stopped process would have seen is unknown.
        let stops = disturbances.stops(of: run.me) + disturbances.stops(of: link.peer)
        let known = (history.runsByMember[link.peer] ?? []).last { $0.end == .unknown }?.span.end
        return link.span.without(others.map(\.span) + stops).map { piece in
            // A history that was read before the run's end contains nothing after that.
            let piece = Span(piece.start, min(piece.end, max(known ?? .max, piece.start)))
            return (piece, isDisturbed(run, link.peer, during: piece))
        }
    }

    /// Returns whether a fault was injected into one of the two at that time, or so shortly before that it still has
    /// effects.
    func isDisturbed(_ run: Run, _ peer: String, during span: Span) -> Bool {
        let reach = Span(span.start - min(span.start, silentDeath(run) + .second), span.end)
        return history.disturbances.all(between: run.me, and: peer).contains { $0.meets(reach) }
    }

    /// Returns the longest times for which a member had a link that the other side had not: without a fault at either,
    /// and with one; and for which it kept a link to a silent peer.
    package func longest() -> (told: Double, untold: Double, silent: Double) {
        var (told, untold, silent): (UInt64, UInt64, UInt64) = (0, 0, 0)
        for run in history.runs {
            for link in run.links where history.runsByMember[link.peer] != nil {
                for (piece, isDisturbed) in stretches(run, link) {
                    if isDisturbed {
                        untold = max(untold, piece.length)
                    } else {
                        told = max(told, piece.length)
                    }
                }
                let silences =
                    history.disturbances.stops(of: link.peer)
                    + history.disturbances.cuts(between: run.me, and: link.peer)
                for silence in silences where link.span.start < silence.start && link.span.end > silence.start
                {
                    guard link.span.end < silence.end else { continue }
                    silent = max(silent, link.span.end - silence.start)
                }
            }
        }
        return (Double(told) / 1e9, Double(untold) / 1e9, Double(silent) / 1e9)
    }
}
