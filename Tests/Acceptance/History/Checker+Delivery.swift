// Properties 4 and 5: what was sent and what was received.

extension Checker {
    /// What one run sent to one peer.
    private struct Sent {
        struct Message {
            let place: Place
            let hash: String?
            let before: String?
            var after: String?
            var wasRefused = false
            /// The number of links to that peer that had ended before: a later one can have the same addresses.
            let ended: Int
            /// The link that it took, when that is certain; the member may not know yet that the last one ended.
            var addresses: String? { before == after ? after : nil }
            var link: String? { before == after ? after.map { "\($0) \(ended)" } : nil }
        }

        var messages: [UInt64: Message] = [:]
        var numbers: [UInt64] = []
        var flushes: [(line: Line, link: String)] = []
        var ended = 0
    }

    /// The data received in one run from one peer during one link.
    private struct Received {
        let line: Line
        var messages: [Line]
    }

    func delivery() -> [Violation] {
        // By the sender's member, then by the receiver's.
        var sent: [String: [String: [(run: Run, sent: Sent)]]] = [:]
        for run in history.runs {
            for (peer, what) in Self.sent(run) {
                sent[run.me, default: [:]][peer, default: []].append((run, what))
            }
        }
        var arrived: [String: Set<String>] = [:]
        var found: [Violation] = []
        for run in history.runs {
            for received in Self.received(run) {
                guard let peer = received.line.entry.peer, history.runsByMember[peer] != nil else { continue }
                let candidates = sent[peer]?[run.me] ?? []
                found += judge(received, from: candidates)
                arrived[peer + run.me, default: []].formUnion(received.messages.map { Self.key($0.entry) })
            }
            found += repetitions(run)
        }
        for (sender, receivers) in sent.sorted(by: { $0.key < $1.key }) {
            for (receiver, all) in receivers.sorted(by: { $0.key < $1.key }) {
                for (run, what) in all {
                    found += missing(what, of: run, to: receiver, arrived[sender + receiver] ?? [])
                }
            }
        }
        return found
    }

    private static func key(_ entry: Entry) -> String { "\(entry.number ?? 0) \(entry.hash ?? "")" }

    private static func sent(_ run: Run) -> [String: Sent] {
        run.lines.reduce(into: [:]) { all, line in
            let entry = line.entry
            if let peer = entry.peer, entry.state == .notConnected { all[peer, default: Sent()].ended += 1 }
            guard let peer = entry.peer, let number = entry.number else { return }
            let ended = all[peer]?.ended ?? 0
            switch entry.event {
            case .send:
                all[peer, default: Sent()].messages[number] = Sent.Message(
                    place: line.place, hash: entry.hash, before: entry.link, ended: ended)
                all[peer]?.numbers.append(number)
            case .sent: all[peer]?.messages[number]?.after = entry.link
            case .unsent: all[peer]?.messages[number]?.wasRefused = true
            case .flushed: all[peer]?.flushes.append((line, "\(entry.link ?? "") \(ended)"))
            default: break
            }
        }
    }

    private static func received(_ run: Run) -> [Received] {
        var open: [String: Received] = [:]
        var all: [Received] = []
        for line in run.lines {
            guard let peer = line.entry.peer else { continue }
            switch line.entry.event {
            case .state:
                if let received = open.removeValue(forKey: peer) { all.append(received) }
                if line.entry.state == .connected { open[peer] = Received(line: line, messages: []) }
            case .message: open[peer]?.messages.append(line)
            default: break
            }
        }
        return all + open.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Finds repeated messages: two are the same when their numbers and their bytes are, which are random.
    private func repetitions(_ run: Run) -> [Violation] {
        var seen: Set<String> = []
        return run.lines.compactMap { line in
            guard line.entry.event == .message, let peer = line.entry.peer else { return nil }
            let isNew = seen.insert("\(peer) \(Self.key(line.entry))").inserted
            return isNew
                ? nil
                : Violation(
                    .delivery, line.place, "message \(line.entry.number ?? 0) from \(peer) arrived twice")
        }
    }

    private func judge(_ received: Received, from candidates: [(run: Run, sent: Sent)]) -> [Violation] {
        guard let first = received.messages.first, let number = first.entry.number else { return [] }
        func isFrom(_ what: Sent) -> Bool {
            what.messages[number].map { $0.hash == first.entry.hash } ?? false
        }
        guard let sent = candidates.first(where: { isFrom($0.sent) })?.sent else {
            return [Violation(.delivery, first.place, "message \(number) was never sent with this content")]
        }
        var found: [Violation] = []
        let numbers = sent.numbers.filter { sent.messages[$0]?.wasRefused != true }
        guard var index = numbers.firstIndex(of: number) else {
            return [Violation(.delivery, first.place, "message \(number) arrived although it was refused")]
        }
        if let link = sent.messages[number]?.link,
            let earlier = numbers[..<index].first(where: { sent.messages[$0]?.link == link })
        {
            found.append(
                Violation(
                    .delivery, first.place,
                    "message \(number) is the first to arrive on its link, but \(earlier) was sent before it")
            )
        }
        var links: Set<String> = []
        for line in received.messages {
            guard index < numbers.count, line.entry.number == numbers[index],
                sent.messages[numbers[index]]?.hash == line.entry.hash
            else {
                let expected = index < numbers.count ? "\(numbers[index])" : "nothing"
                let came = line.entry.number.map { "\($0)" } ?? "none"
                found.append(
                    Violation(
                        .delivery, line.place, "message \(came) arrived instead of \(expected), or changed"
                    ))
                break
            }
            if let link = sent.messages[numbers[index]]?.addresses { links.insert(link) }
            index += 1
        }
        if links.count > 1 {
            found.append(
                Violation(
                    .delivery, received.line.place,
                    "messages of several links arrived on it: \(links.sorted())")
            )
        }
        return found
    }

    /// Finds messages that a flush reported as arrived, and that did not arrive.
    private func missing(
        _ sent: Sent, of run: Run, to receiver: String, _ arrived: Set<String>
    ) -> [Violation] {
        sent.flushes.flatMap { flush, link -> [Violation] in
            guard let last = flush.entry.number,
                // What a session has received, a killed application has perhaps not taken.
                let other = history.run(of: receiver, at: flush.entry.t), other.end == .quit
            else { return [] }
            return sent.numbers.compactMap { number in
                guard number <= last, let message = sent.messages[number], !message.wasRefused,
                    message.link == link, let hash = message.hash, !arrived.contains("\(number) \(hash)")
                else { return nil }
                return Violation(
                    .delivery, message.place,
                    "message \(number) to \(receiver) never arrived, although it was flushed (\(flush.place))"
                )
            }
        }
    }

    // MARK: 5

    func presence() -> [Violation] { history.runs.flatMap(presence) }

    private func presence(_ run: Run) -> [Violation] {
        var linked: [String: UInt64] = [:]
        var instances: [String: [String]] = [:]
        return run.lines.compactMap { line in
            guard let peer = line.entry.peer else { return nil }
            switch line.entry.event {
            case .state:
                linked[peer] = line.entry.state == .connected ? line.entry.t : nil
                return nil
            case .offered where linked[peer] == nil:
                return Violation(.presence, line.place, "a file arrived from \(peer), which is not connected")
            case .message:
                guard let since = linked[peer] else {
                    return Violation(
                        .presence, line.place, "a message arrived from \(peer), which is not connected")
                }
                guard let from = line.entry.from else { return nil }
                let isOld =
                    instances[peer].map { $0.contains(from) && $0.last != from } ?? false
                    // The event of its last link may have been on the way.
                    || end(of: from, of: peer).map { $0 + limits.told + limits.slack < since } ?? false
                if !isOld, instances[peer]?.last != from { instances[peer, default: []].append(from) }
                return isOld
                    ? Violation(
                        .presence, line.place,
                        "a message arrived from instance \(from) of \(peer), which has ended")
                    : nil
            default: return nil
            }
        }
    }

    /// Returns when a member got another instance, or died; nil when it had this one to the end.
    private func end(of instance: String, of member: String) -> UInt64? {
        instanceEnds[member]?[instance]
    }
}
