import MultipeerHistory

/// A history that is made up: whole lines of two members and of the nemesis, each at its second.
struct Tale {
    var lines: [(seconds: Double, entry: Entry)] = []

    mutating func add(
        _ me: String, _ seconds: Double, _ event: Entry.Event, _ peer: String? = nil,
        _ change: (inout Entry) -> Void = { _ in }
    ) {
        lines.append((seconds, Entry(event, me: me, peer: peer).with(change)))
    }

    mutating func state(
        _ me: String, _ seconds: Double, _ peer: String, _ state: Entry.State,
        _ reason: String = "the peer left"
    ) {
        add(me, seconds, .state, peer) {
            $0.state = state
            if state == .notConnected { $0.reason = reason }
        }
    }

    mutating func start(_ me: String, _ seconds: Double, _ instance: String = "1") {
        add(me, seconds, .start) {
            $0.instance = instance
            $0.cap = 3
            $0.timeLimit = 30
        }
    }

    /// Adds the connected state at both.
    mutating func link(_ one: String, _ other: String, _ seconds: Double) {
        for (me, peer) in [(one, other), (other, one)] {
            state(me, seconds, peer, .connecting)
            state(me, seconds + 0.1, peer, .connected)
        }
    }

    /// A message that arrives 10 ms later.
    mutating func message(
        _ me: String, _ peer: String, _ seconds: Double, _ number: UInt64, link: String = "x",
        from: String = "1"
    ) {
        send(me, peer, seconds, number, link: link)
        arrive(peer, me, seconds + 0.01, number, from: from)
    }

    mutating func send(_ me: String, _ peer: String, _ seconds: Double, _ number: UInt64, link: String = "x")
    {
        add(me, seconds, .send, peer) {
            $0.number = number
            $0.hash = "h\(number)"
            $0.link = link
        }
        add(me, seconds + 0.001, .sent, peer) {
            $0.number = number
            $0.link = link
        }
    }

    mutating func arrive(
        _ me: String, _ peer: String, _ seconds: Double, _ number: UInt64, from: String = "1"
    ) {
        add(me, seconds, .message, peer) {
            $0.number = number
            $0.hash = "h\(number)"
            $0.from = from
        }
    }

    /// Members in files of their own, in order of time.
    var history: History {
        let sorted = lines.enumerated().sorted {
            ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset)
        }
        var counts: [String: Int] = [:]
        return History(
            sorted.map { _, line in
                counts[line.entry.me, default: 0] += 1
                let place = Place(file: line.entry.me, line: counts[line.entry.me, default: 0])
                return Line(line.entry.with { $0.t = UInt64((line.seconds + 100) * 1e9) }, at: place)
            })
    }

    var violations: [Violation] { Checker(history).violations() }

    /// Two members link, talk, rest and leave: nothing is wrong with it.
    static var clean: Tale {
        var tale = Tale()
        for me in ["a", "b"] { tale.start(me, 0) }
        for (me, peer) in [("a", "b"), ("b", "a")] {
            tale.add(me, 0.9, .attempt, peer) { $0.id = "1" }
            tale.add(me, 1.2, .outcome, peer) {
                $0.id = "1"
                $0.outcome = Entry.good
            }
        }
        tale.link("a", "b", 1)
        for number in 1...3 as ClosedRange<UInt64> { tale.message("a", "b", 1 + Double(number), number) }
        tale.add("a", 4.5, .flushed, "b") {
            $0.number = 3
            $0.link = "x"
        }
        tale.file("a", "b", 5)
        for me in ["a", "b"] { tale.add(me, 6, .rest) { $0.mark = "1" } }
        tale.add("a", 7, .goodbye)
        tale.state("a", 7.01, "b", .notConnected, "this session was left")
        tale.state("b", 7.01, "a", .notConnected)
        for me in ["a", "b"] { tale.add(me, 8, .quit) }
        return tale
    }

    /// A file that is whole at both ends.
    mutating func file(_ me: String, _ peer: String, _ seconds: Double, id: String = "f") {
        add(me, seconds, .offer, peer) {
            $0.id = id
            $0.hash = "sha"
        }
        add(peer, seconds + 0.1, .offered, me) { $0.id = id }
        for (one, other, role) in [(peer, me, Entry.Role.receiver), (me, peer, .sender)] {
            add(one, seconds + 0.2, .completed, other) {
                $0.id = id
                $0.role = role
                $0.outcome = Entry.good
                $0.hash = "sha"
            }
        }
    }

    /// Takes away the lines for which it holds.
    mutating func drop(_ isMeant: (Entry) -> Bool) { lines.removeAll { isMeant($0.entry) } }

    /// Changes the lines for which it holds.
    mutating func change(_ isMeant: (Entry) -> Bool, _ change: (inout Entry) -> Void) {
        for index in lines.indices where isMeant(lines[index].entry) { change(&lines[index].entry) }
    }

    /// The same lines at another second.
    mutating func move(_ isMeant: (Entry) -> Bool, to seconds: Double) {
        for index in lines.indices where isMeant(lines[index].entry) { lines[index].seconds = seconds }
    }
}
