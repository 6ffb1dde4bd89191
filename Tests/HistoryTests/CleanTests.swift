import Foundation
import MultipeerHistory
import TestSupport
import Testing

extension Tale {
    /// Two members that are linked from second 1.1 on.
    private static var linked: Tale {
        var tale = Tale()
        for me in ["a", "b"] { tale.start(me, 0) }
        tale.link("a", "b", 1)
        return tale
    }

    /// b is killed at second 3.
    static func death(noticedAfter seconds: Double) -> Tale {
        var tale = linked
        tale.send("a", "b", 2, 1)
        tale.add(Entry.nemesis, 3, .kill, "b")
        tale.state("a", 3 + seconds, "b", .notConnected, "the connection was lost")
        tale.add("a", 40, .quit)
        return tale
    }

    /// b is stopped from second 3 on; a notices it or not, b then does when it continues.
    static func stop(for length: Double, noticedAfter seconds: Double?) -> Tale {
        var tale = linked
        tale.add(Entry.nemesis, 3, .stop, "b")
        tale.add(Entry.nemesis, 3 + length, .continue, "b")
        if let seconds {
            tale.state("a", 3 + seconds, "b", .notConnected, "the peer did not respond in time")
            tale.state("b", 3 + length + 0.1, "a", .notConnected, "the connection was lost")
        }
        for me in ["a", "b"] {
            if seconds == nil { tale.state(me, 39, me == "a" ? "b" : "a", .notConnected, "left") }
            tale.add(me, 40, .quit)
        }
        return tale
    }

    /// Nothing passes between a and b from second 3 on.
    static func cut(for length: Double, noticedAfter seconds: (Double?, Double?)) -> Tale {
        var tale = linked
        for (time, event) in [(3, Entry.Event.cut), (3 + length, .heal)] {
            tale.add(Entry.nemesis, time, event) {
                $0.peers = ["b"]
                $0.id = "1"
            }
        }
        for (me, peer, later) in [("a", "b", seconds.0), ("b", "a", seconds.1)] {
            let reason = later == nil ? "the peer left" : "the peer did not respond in time"
            tale.state(me, 3 + (later ?? 36), peer, .notConnected, reason)
        }
        for me in ["a", "b"] { tale.add(me, 40, .quit) }
        return tale
    }

    /// a is killed and comes again as another instance, whose messages name their instance.
    static func rejoin(lastFrom instance: String) -> Tale {
        var tale = linked
        tale.message("a", "b", 2, 1)
        tale.add(Entry.nemesis, 3, .kill, "a")
        tale.state("b", 3.1, "a", .notConnected, "the connection was lost")
        tale.start("a", 4, "2")
        tale.link("a", "b", 5)
        tale.send("a", "b", 6, 7, link: "y")
        tale.arrive("b", "a", 6.01, 7, from: instance)
        for (me, peer) in [("a", "b"), ("b", "a")] {
            tale.state(me, 8, peer, .notConnected, "left")
            tale.add(me, 9, .quit)
        }
        return tale
    }
}

@Suite("14 History without a fault", .computing)
struct CleanTests {
    private static let tales: [(String, Tale)] = [
        ("a short life", .clean),
        ("a death", .death(noticedAfter: 10.9)),
        ("a short stop that nobody notices", .stop(for: 5, noticedAfter: nil)),
        ("a long stop", .stop(for: 30, noticedAfter: 10)),
        ("a short cut", .cut(for: 8, noticedAfter: (nil, nil))),
        ("a long cut", .cut(for: 20, noticedAfter: (8, 10.5))),
        ("a death and a new life", .rejoin(lastFrom: "2")),
        ("news of a link that come after the death of the peer", late),
        ("a link with the addresses of an earlier one", sameAddresses),
        ("a link that takes over", superseded),
        ("a message that may have gone by either link", uncertain),
        ("a death with a message and a file on their way", onTheWay),
    ]

    @Test("no violation is found", arguments: tales.indices)
    func nothing(_ index: Int) {
        let (name, tale) = Self.tales[index]
        #expect(tale.violations.map(\.description) == [], "\(name)")
    }

    private static var superseded: Tale {
        var tale = Tale.clean
        for (me, peer) in [("a", "b"), ("b", "a")] {
            tale.state(me, 4.6, peer, .notConnected, "a newer connection took over")
            tale.state(me, 4.6, peer, .connected)
        }
        tale.message("a", "b", 4.7, 4, link: "y")
        return tale
    }

    /// The first message of the second link was recorded as sent on the first.
    private static var uncertain: Tale {
        var tale = superseded
        tale.change({ $0.event == .send && $0.number == 4 }, { $0.link = "x" })
        return tale
    }

    /// The first link's last message was lost with it.
    private static var sameAddresses: Tale {
        var tale = Tale.clean
        tale.send("a", "b", 6.9, 4)
        tale.link("a", "b", 7.1)
        tale.message("a", "b", 7.3, 5)
        for (me, peer) in [("a", "b"), ("b", "a")] { tale.state(me, 7.9, peer, .notConnected) }
        return tale
    }

    /// b is notified of the link, and receives the message on it, when a has been dead for 0.9 s.
    private static var late: Tale {
        var tale = Tale.rejoin(lastFrom: "2")
        tale.lines.removeAll { $0.seconds < 3.05 && $0.entry.me == "b" && $0.entry.event != .start }
        tale.state("b", 3.05, "a", .connecting)
        tale.state("b", 3.06, "a", .connected)
        tale.arrive("b", "a", 3.07, 1)
        return tale
    }

    private static var onTheWay: Tale {
        var tale = Tale.death(noticedAfter: 1)
        tale.add("a", 2.9, .offer, "b") {
            $0.id = "f"
            $0.hash = "sha"
        }
        tale.add("a", 3.01, .completed, "b") {
            $0.id = "f"
            $0.role = .sender
            $0.outcome = Entry.good
        }
        return tale
    }

    @Test("written entries can be read, and a line that was cut off by a crash is skipped")
    func file() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "history-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try HistoryFile(path: path)
        file.write(Entry(.start, me: "a").with { $0.cap = 8 })
        file.write(Entry(.quit, me: "a"))
        let cut = try Data(contentsOf: URL(fileURLWithPath: path)) + Data(#"{"t":1,"me"#.utf8)
        try cut.write(to: URL(fileURLWithPath: path))
        let history = try History(files: [path])
        #expect(history.runs.map(\.end) == [.quit])
        #expect(history.runs.first?.start.cap == 8)
        #expect(history.unreadable.isEmpty)
    }

    @Test("a line that is not an entry is a violation with its line number")
    func unreadable() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "history-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("{}\n".utf8).write(to: URL(fileURLWithPath: path))
        let found = Checker(try History(files: [path])).violations()
        #expect(
            found.map(\.description) == ["\(path):1: property 0 (\(Property.whole.text)): not an entry"])
    }
}
