import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

/// Every state of the table against every event: the machine does what the table states, and nothing else.
@Suite("14 States of a link", .computing)
struct LinkStateTests {
    @Test("every state and every event, as in states.json [close.linger] [state.reason]")
    func table() throws {
        let table = try StateTable.named("link")
        #expect(table.rows.count == table.states.count * table.events.count)
        for row in table.rows where !Self.elsewhere.contains(row.description) { check(row) }
    }

    /// A sleep of more than five seconds is longer than the second that a CLOSE may take; and a link whose CLOSE is written
    /// out is released by its owner.
    private static let elsewhere: Set = ["closing, resumed", "closing, flushed"]

    private func check(_ row: StateTable.Row) {
        let end = End()
        let moment = Self.moments[row.event] ?? 1
        if ["dead"].contains(row.event) {
            end.advance(3)
            _ = end.written()
        }
        let closing = Moment.start.later(row.event == "lingerOver" ? moment - 1 : moment - 0.5)
        switch row.state {
        case "closing":
            end.link.close(.goodbye, at: closing)
            _ = end.written()
        case "ended": end.link.lost()
        default: break
        }
        let (before, elapsed) = (end.link.end, moment - (row.event == "dead" ? 3 : 0))
        apply(row.event, to: end, after: elapsed)

        let written = end.frames()
        let actions = row.actions ?? []
        #expect(end.link.phase.name == row.next, "\(row)")
        #expect((before == nil && end.link.end != nil) == actions.contains("report"), "\(row)")
        #expect(end.messages().isEmpty != actions.contains("deliver"), "\(row)")
        #expect(
            written.contains { if case .ping = $0 { true } else { false } } == actions.contains("sendPing"),
            "\(row)")
        #expect(
            (written.last == code(row).map { Frame.close($0, reason: "") }) == actions.contains("sendClose"),
            "\(row)")
        if actions.contains("grantGrace") { #expect(end.link.deadline == end.now.later(3), "\(row)") }
    }

    /// Seconds after the link began at which the event happens.
    private static let moments: [String: Double] = ["silent": 3, "dead": 10, "resumed": 9]

    private func apply(_ event: String, to end: End, after seconds: Double) {
        let isTold = ["silent", "dead", "resumed", "lingerOver"].contains(event)
        if isTold { end.advance(seconds) } else { end.now = end.now.later(seconds) }
        switch event {
        case "frame": end.receive(.message([1]))
        case "violation": end.receive(.credit(channel: 0, limit: 0))
        case "close": end.receive(.close(.goodbye, reason: ""))
        case "closeAsked": end.link.close(.cancelled, at: end.now)
        case "superseded": end.link.superseded(at: end.now)
        case "lost": end.link.lost()
        case "flushed": break
        default: #expect(isTold, "\(event) is not an event that this test knows")
        }
    }

    private func code(_ row: StateTable.Row) -> CloseCode? {
        switch row.code {
        case "ofTheRule", "PROTOCOL": .protocolError
        case "asGiven": .cancelled
        case "DUPLICATE": .duplicate
        case "TIMEOUT": .timeout
        default: .ok
        }
    }
}

extension Link.Phase {
    fileprivate var name: String {
        switch self {
        case .open: "open"
        case .closing: "closing"
        case .ended: "ended"
        }
    }
}
