// Property 2: two members agree on whether they are connected, but for the time that news takes.

extension Checker {
    func symmetry() -> [Violation] {
        history.runs.flatMap { run in
            run.links.flatMap { link -> [Violation] in
                guard history.runsByMember[link.peer] != nil else { return [] }
                return silent(run, link) + alone(run, link)
            }
        }
    }

    /// A peer that says nothing any more, because it is stopped or cut off, is given up in time.
    private func silent(_ run: Run, _ link: Run.Link) -> [Violation] {
        let disturbances = history.disturbances
        let silences =
            disturbances.stops(of: link.peer) + disturbances.cuts(between: run.me, and: link.peer)
        return silences.compactMap { silence in
            guard link.span.start < silence.start, silence.start < link.span.end else { return nil }
            var deadline = silence.start + silentDeath(run)
            // Who is stopped notices nothing; it has as long again from when it goes on.
            for stop in disturbances.stops(of: run.me).sorted(by: { $0.start < $1.start })
            where stop.start <= deadline && stop.end >= silence.start {
                deadline = max(
                    deadline, stop.end == .max ? .max : stop.end + silentDeath(run))
            }
            guard link.span.end > deadline, silence.end > deadline else { return nil }
            return Violation(
                .symmetry, link.start,
                "\(link.peer) was silent from \(silence.start) on and still connected "
                    + "\((link.span.end - silence.start).inSeconds) later")
        }
    }

    /// The stretches of the link during which the other side had none.
    private func alone(_ run: Run, _ link: Run.Link) -> [Violation] {
        let disturbances = history.disturbances
        let others = (history.runsByMember[link.peer] ?? []).flatMap(\.links).filter { $0.peer == run.me }
        // What a stopped process would have seen, nobody knows.
        let stops = disturbances.stops(of: run.me) + disturbances.stops(of: link.peer)
        let known = (history.runsByMember[link.peer] ?? []).last { $0.end == .unknown }?.span.end
        return link.span.without(others.map(\.span) + stops).compactMap { piece in
            // A history that was taken before its end knows nothing behind it.
            let piece = Span(piece.start, min(piece.end, max(known ?? .max, piece.start)))
            let reach = Span(piece.start - min(piece.start, silentDeath(run) + .second), piece.end)
            let isDisturbed = disturbances.all(between: run.me, and: link.peer).contains { $0.meets(reach) }
            let limit = isDisturbed ? silentDeath(run) : limits.told + limits.slack
            guard piece.length > limit else { return nil }
            return Violation(
                .symmetry, link.start,
                "connected to \(link.peer), who was not, for \(piece.length.inSeconds) from \(piece.start) on"
            )
        }
    }
}
