/// What a session of the reference peer browses for. Spec 12.4 and 12.6.
final class PeerBrowser {
    private typealias Kind = DNSMessage.Kind

    /// A record that was received.
    private struct Held {
        let record: DNSMessage.Record
        let received: Instant
        var expires: Instant
        /// The number of refreshing queries.
        var refreshes = 0
        /// The number of questions of others that it would answer.
        var questions = 0
    }

    /// What the application was notified of.
    private struct Known: Equatable {
        let name: String
        let info: [String: String]
        let host: [[UInt8]]
    }

    private unowned let discovery: PeerDiscovery
    private let type: [[UInt8]]
    private var held: [Held] = []
    private var known: [[UInt8]: Known] = [:]
    private var nextQuery: Instant
    private var pause = 1

    init(_ discovery: PeerDiscovery, _ type: String) {
        self.discovery = discovery
        self.type = ServiceNames.type(type)
        nextQuery = .now + .milliseconds(Int.random(in: 20...120))
    }

    private var bug: Bug? { discovery.bug }

    /// Starts to query from the beginning.
    func begin() {
        nextQuery = .now + .milliseconds(Int.random(in: 20...120))
        pause = 1
    }

    func tick(_ now: Instant) {
        if now >= nextQuery {
            ask(type, Kind.ptr, now)
            nextQuery = now + .seconds(bug == .queriesOnce ? 9_999 : pause)
            pause = min(3_600, pause * 2)
        }
        for place in held.indices where bug != .neverRefreshes && held[place].refreshes < 4 {
            let one = held[place]
            let part = Duration.milliseconds(Int(one.record.ttl) * (800 + 50 * one.refreshes))
            guard one.record.ttl > 1, one.received + part <= now else { continue }
            held[place].refreshes += 1
            if one.record.type != Kind.a { ask(one.record.name, one.record.type, now) }
        }
        let count = held.count
        held.removeAll { $0.expires <= now }
        if held.count != count { report() }
    }

    /// Another's question, or this end's own, which the group returns: in the second half of a pause it counts as asked.
    func hear(question: DNSMessage) {
        let isOurs = question.questions.contains { $0.type == Kind.ptr && $0.name.folded == type.folded }
        let now = Instant.now
        if isOurs, question.answers.isEmpty, bug != .neverDoubts {
            for place in held.indices where held[place].record.type == Kind.ptr {
                held[place].questions += 1
                if held[place].questions == (bug == .doubtsAfterOne ? 1 : 2) {
                    held[place].expires = min(held[place].expires, now + .seconds(10))
                }
            }
        }
        let half = Duration.milliseconds(pause * 250)
        guard isOurs, question.answers.isEmpty, nextQuery - now < half, bug != .repeatsQuestions else {
            return
        }
        nextQuery = now + .seconds(pause)
        pause = min(3_600, pause * 2)
    }

    private func ask(_ name: [[UInt8]], _ type: UInt16, _ now: Instant) {
        var message = DNSMessage.asking(name, type)
        if bug == .asksForUnicast { message.questions[0].kind = 0x8001 }
        if bug != .listsNoAnswers {
            message.answers = held.filter {
                $0.record.type == type && $0.record.name.folded == name.folded
                    && $0.received + .milliseconds(Int($0.record.ttl) * 500) > now
            }.map { one in
                var record = one.record
                record.isFlush = false
                return record
            }
        }
        discovery.send(message)
    }

    func hear(_ response: DNSMessage) {
        let now = Instant.now
        for record in response.records where record.kind == 1 {
            let isSame = { (one: Held) in one.record.isSame(as: record) }
            if record.ttl == 0 {
                guard bug != .neverLoses else { continue }
                for place in held.indices where isSame(held[place]) {
                    held[place].expires = min(held[place].expires, now + .seconds(1))
                }
                continue
            }
            let isFull =
                record.type == Kind.ptr && bug != .findsWithoutLimit
                && held.count { $0.record.type == Kind.ptr } >= 256
            if isFull, !held.contains(where: isSame) { continue }
            held.removeAll(where: isSame)
            if record.isFlush, bug != .keepsOldRecords {
                for place in held.indices
                where held[place].record.name.folded == record.name.folded
                    && held[place].record.type == record.type && held[place].received + .seconds(1) < now
                {
                    held[place].expires = min(held[place].expires, now + .seconds(1))
                }
            }
            held.append(Held(record: record, received: now, expires: now + .seconds(Int64(record.ttl))))
        }
        report()
    }

    /// Notifies the application of what has changed.
    private func report() {
        var found: [[UInt8]: Known] = [:]
        let named = Dictionary(grouping: held) { $0.record.name.folded }
        for one in named[type.folded] ?? [] where one.record.type == Kind.ptr {
            guard let instance = one.record.target, let label = instance.first,
                let uid = ServiceNames.uid(of: label)
                    ?? (bug == .anyInstance ? Array(label.suffix(16)) : nil),
                uid != discovery.session.endpoint.uid || bug == .findsItself,
                let known = describe(named[instance.folded] ?? [])
            else { continue }
            found[uid] = known
        }
        for (uid, old) in known {
            let isRestart = found[uid].map { $0.host != old.host && bug != .restartUnnoticed } ?? false
            if found[uid] == nil || isRestart { tell("lost", uid, old) }
        }
        for (uid, new) in found {
            let old = known[uid]
            let isNews = old.map { $0.name != new.name || $0.info != new.info } ?? true
            let isRestart = old.map { $0.host != new.host && bug != .restartUnnoticed } ?? false
            if isNews || isRestart { tell("found", uid, new) }
        }
        known = found
    }

    /// Returns what the newest SRV and TXT of an instance say.
    ///
    /// * `own`: the records with its name.
    private func describe(_ own: [Held]) -> Known? {
        guard let host = own.last(where: { $0.record.type == Kind.srv })?.record.target,
            let text = own.last(where: { $0.record.type == Kind.txt })?.record
        else { return nil }
        var values: [String: String] = [:]
        for string in text.strings {
            let line = String(decoding: string, as: UTF8.self)
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            let key = parts[0].lowercased()
            if values[key] == nil { values[key] = parts.count == 2 ? parts[1] : "" }
        }
        let isText = values["mpc"] == "1" && values["n"] != nil && text.data.count <= 1_300
        guard isText || bug == .anyText else { return nil }
        let name = values["n"] ?? "?"
        for key in ["mpc", "n", "c"] { values[key] = nil }
        return Known(name: name, info: values, host: host.folded)
    }

    private func tell(_ event: String, _ uid: [UInt8], _ known: Known) {
        let session = discovery.session
        session.peer.tell([
            "event": .string(event), "session": .string(session.handle), "peer": .string(uid.hex),
            "name": .string(known.name), "info": .object(known.info.mapValues { .string($0) }),
        ])
    }
}
