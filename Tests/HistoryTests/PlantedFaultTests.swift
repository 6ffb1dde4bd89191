import MultipeerHistory
import TestSupport
import Testing

/// A history with one fault, and the property that must report it.
struct Fault: Sendable, CustomTestStringConvertible {
    let property: Property
    let testDescription: String
    let plant: @Sendable (inout Tale) -> Void

    init(_ property: Property, _ text: String, _ plant: @escaping @Sendable (inout Tale) -> Void) {
        self.property = property
        testDescription = text
        self.plant = plant
    }

    static let all = [
        Fault(.whole, "a member that ends without a word") { $0.drop { $0.event == .quit && $0.me == "a" } },
        Fault(.whole, "a beginning that is missing") { $0.drop { $0.event == .start && $0.me == "a" } },
        Fault(.states, "the same state twice") { $0.state("a", 5.9, "b", .connected) },
        Fault(.states, "connecting to a peer that is connected") { $0.state("a", 5.9, "b", .connecting) },
        Fault(.states, "connected without having connected") {
            $0.drop { $0.state == .connecting && $0.me == "a" }
        },
        Fault(.states, "an end without a reason") {
            $0.change({ $0.state == .notConnected && $0.me == "a" }, { $0.reason = nil })
        },
        Fault(.states, "a peer that is taken for dead and is not") {
            $0.change(
                { $0.state == .notConnected && $0.me == "b" }, { $0.reason = "the connection was lost" })
        },
        Fault(.symmetry, "a goodbye that is seen 1.1 s late") {
            $0.move({ $0.state == .notConnected && $0.me == "b" }, to: 8.11)
            $0.move({ $0.event == .quit && $0.me == "b" }, to: 9)
        },
        Fault(.symmetry, "a link that only one side knows") {
            $0.drop { $0.event == .state && $0.me == "b" }
        },
        Fault(.symmetry, "a killed peer that is given up 11.1 s later") { $0 = .death(noticedAfter: 11.1) },
        Fault(.symmetry, "a stopped peer that is never given up") { $0 = .stop(for: 15, noticedAfter: nil) },
        Fault(.symmetry, "a stopped peer that is given up 11.1 s later") {
            $0 = .stop(for: 15, noticedAfter: 11.1)
        },
        Fault(.symmetry, "a cut that one side does not notice") {
            $0 = .cut(for: 15, noticedAfter: (9, nil))
        },
        Fault(.cap, "three links with a cap of three") {
            for peer in ["c", "d"] {
                $0.state("a", 2, peer, .connecting)
                $0.state("a", 2.1, peer, .connected)
                $0.state("a", 7.01, peer, .notConnected)
            }
        },
        Fault(.delivery, "a message that is missing in between") {
            $0.drop { $0.event == .message && $0.number == 2 }
        },
        Fault(.delivery, "a message that is missing at the beginning") {
            $0.drop { $0.event == .message && $0.number == 1 }
        },
        Fault(.delivery, "a message that is missing at the end, after a flush") {
            $0.drop { $0.event == .message && $0.number == 3 }
        },
        Fault(.delivery, "a message that comes twice") { $0.arrive("b", "a", 4.2, 3) },
        Fault(.delivery, "two messages in the wrong order") {
            $0.change({ $0.event == .message && $0.number == 2 }, { $0.with(3) })
            $0.move({ $0.event == .message && $0.number == 3 && $0.hash == "h3" && $0.t == 0 }, to: 3.5)
            $0.arrive("b", "a", 4.2, 2)
        },
        Fault(.delivery, "a message that is changed") {
            $0.change({ $0.event == .message && $0.number == 2 }, { $0.hash = "other" })
        },
        Fault(.delivery, "a message that nobody sent") { $0.arrive("b", "a", 4.2, 4) },
        Fault(.delivery, "a message that was refused") {
            $0.add("a", 3.1, .unsent, "b") { $0.number = 2 }
        },
        Fault(.delivery, "messages of two links on one") {
            $0.change({ $0.link == "x" && $0.number == 3 }, { $0.link = "y" })
        },
        Fault(.presence, "a message after the end of the link") {
            $0.move({ $0.event == .message && $0.number == 3 }, to: 7.5)
        },
        Fault(.presence, "a file after the end of the link") { $0.file("a", "b", 7.2, id: "g") },
        Fault(.presence, "a message of an instance that is over") { $0 = .rejoin(lastFrom: "1") },
        Fault(.presence, "a message of an instance that was over before the link") {
            $0.change({ $0.event == .start && $0.me == "a" }, { $0.instance = "0" })
            $0.add("a", 0.01, .instance) { $0.instance = "1" }
            $0.change({ $0.event == .message }, { $0.from = "0" })
        },
        Fault(.rest, "a member that only one sees") {
            for peer in ["c"] {
                $0.state("a", 2, peer, .connecting)
                $0.state("a", 2.1, peer, .connected)
                $0.state("a", 7.01, peer, .notConnected)
            }
        },
        Fault(.rest, "a link that is gone on one side alone") {
            $0.move({ $0.state == .notConnected && $0.me == "b" }, to: 5.9)
        },
        Fault(.transfers, "a file that is complete twice") {
            $0.add("a", 5.4, .completed, "b") {
                $0.id = "f"
                $0.role = .sender
                $0.outcome = "cancelled"
            }
        },
        Fault(.transfers, "a file that has no end") {
            $0.drop { $0.event == .completed && $0.role == .receiver }
        },
        Fault(.transfers, "a file that is another one") {
            $0.change({ $0.event == .completed && $0.role == .receiver }, { $0.hash = "other" })
        },
        Fault(.transfers, "a file that only the sender believes in") {
            $0.change({ $0.event == .completed && $0.role == .receiver }, { $0.outcome = "damaged" })
        },
        Fault(.transfers, "a file that was never offered") { $0.drop { $0.event == .offered } },
        Fault(.attempts, "an attempt with no outcome") { $0.drop { $0.event == .outcome && $0.me == "b" } },
        Fault(.attempts, "an attempt with two outcomes") {
            $0.add("a", 1.5, .outcome, "b") {
                $0.id = "1"
                $0.outcome = "cancelled"
            }
        },
        Fault(.attempts, "an attempt that lasts for ever") {
            $0.move({ $0.event == .outcome && $0.me == "a" }, to: 36.5)
            $0.move({ $0.event == .quit && $0.me == "a" }, to: 37)
        },
        Fault(.attempts, "a peer that is connecting to the end") { $0.state("a", 7.5, "b", .connecting) },
    ]
}

@Suite("14 History", .computing)
struct PlantedFaultTests {
    @Test("a fault is caught by the property that it violates", arguments: Fault.all)
    func caught(_ fault: Fault) {
        var tale = Tale.clean
        fault.plant(&tale)
        let found = tale.violations
        #expect(found.contains { $0.property == fault.property }, "found \(found)")
    }

    @Test("every property has a fault that it catches", arguments: Property.allCases)
    func complete(_ property: Property) {
        #expect(Fault.all.contains { $0.property == property })
    }
}

extension Entry {
    fileprivate mutating func with(_ number: UInt64) {
        self.number = number
        hash = "h\(number)"
    }
}
