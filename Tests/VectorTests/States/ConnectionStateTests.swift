import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@Suite("6.6 States of a connection", .computing)
struct ConnectionStateTests {
    @Test(
        "every state and every event, as in states.json [hello.first] [confirm.order] [select.lower] [select.answer]",
        arguments: try ConnectionRow.all(), [Handshake.Role.initiator, .responder])
    func row(_ row: ConnectionRow, _ dial: Handshake.Role) throws {
        guard row.dial == "both" || (row.dial == "initiator") == (dial == .initiator) else { return }
        for isControlling in [true, false] where row.isAbout(isControlling) {
            // Only the end with the lower uid ever selects.
            if row.state == "selecting", !isControlling { continue }
            let bench = try Bench(dial, isControlling: isControlling, state: row.state, event: row.event)
            let actions = try bench.apply(row.event)
            // Before the channel is secured there are no frames. One that is passed in has no effect.
            if row.state == "securing", ConnectionRow.frames.contains(row.event) {
                #expect(["securing", "ended"].contains(bench.state), "\(row)")
                #expect(actions.sent.isEmpty, "\(row)")
                continue
            }
            // The end that selects takes the first candidate at once: the row of `nominate` follows.
            let isSelected = isControlling && row.actions.contains("becomeCandidate")
            #expect(bench.state == (isSelected ? "selecting" : row.next), "\(row)")
            #expect(actions.sent == row.sent + (isSelected ? [.select] : []), "\(row)")
            #expect(actions.isAsked == row.actions.contains("askTrust"), "\(row)")
            #expect(actions.isLinked == row.actions.contains("linkUp"), "\(row)")
            if row.actions.contains("sendClose") { #expect(actions.told == row.told, "\(row)") }
            if row.next == row.state { #expect(actions.told == nil, "\(row)") }
        }
    }

    @Test("the table has a row for every state, event and end")
    func complete() throws {
        let machine = try ConnectionRow.machine()
        for state in machine.states {
            for event in machine.events.keys {
                for dial in ["initiator", "responder"] {
                    for nomination in ["controlling", "controlled"] {
                        let rows = machine.rows.filter {
                            $0.state == state && $0.event == event && ["both", dial].contains($0.dial)
                                && ["both", nomination].contains($0.nomination)
                        }
                        #expect(rows.count == 1, "\(state), \(event), \(dial), \(nomination)")
                    }
                }
            }
        }
    }

    @Test("a PING is answered on a candidate and refused before, a PONG is ignored after HELLO [frame.order]")
    func probes() throws {
        let states = ["greeting", "deciding", "decidingConfirmed", "confirming", "candidate", "selecting"]
        for state in states {
            for isPing in [true, false] {
                let bench = try Bench(.responder, isControlling: true, state: state, event: "")
                let actions = bench.receive(isPing ? .ping(7) : .pong(7))
                let isCandidate = ["candidate", "selecting"].contains(state)
                let isRefused = isPing ? !isCandidate : state == "greeting"
                #expect(actions.told == (isRefused ? .protocolError : nil), "\(state)")
                #expect(actions.sent == (isPing && isCandidate ? [.pong] : []), "\(state)")
            }
        }
    }
}

/// A row of the machine `connection` of `Spec/states.json`.
struct ConnectionRow: Decodable, Sendable, CustomTestStringConvertible {
    let state: String
    let event: String
    let dial: String
    let nomination: String
    let next: String
    let actions: [String]
    let code: String?

    var testDescription: String { "\(state), \(event), \(dial), \(nomination)" }

    static let frames: Set = [
        "hello", "helloRefused", "confirm", "confirmWrong", "select", "selected", "close", "otherFrame",
    ]

    struct Machine: Decodable {
        let states: [String]
        let events: [String: String]
        let rows: [ConnectionRow]
    }

    static func machine() throws -> Machine {
        struct Machines: Decodable { let connection: Machine }
        struct File: Decodable { let machines: Machines }
        return try VectorFiles.decode(File.self, "states.json").machines.connection
    }

    static func all() throws -> [ConnectionRow] { try machine().rows }

    func isAbout(_ isControlling: Bool) -> Bool {
        nomination == "both" || (nomination == "controlling") == isControlling
    }

    /// The frames, CLOSE aside, that the actions send.
    var sent: [FrameKind] {
        actions.compactMap {
            switch $0 {
            case "sendHello": .hello
            case "sendConfirm": .confirm
            case "sendSelect": .select
            case "sendSelected": .selected
            default: nil
            }
        }
    }

    var told: CloseCode? {
        switch code {
        case "PROTOCOL": .protocolError
        case "TIMEOUT": .timeout
        case "REJECTED": .rejected
        case "BAD_MAC": .badMAC
        case "ofTheCheck": .unknownPeer
        case "asGiven": .cancelled
        default: nil
        }
    }
}
