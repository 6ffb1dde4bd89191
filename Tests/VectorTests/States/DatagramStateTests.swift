import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("10.8 States of the datagram path", .computing)
struct DatagramStateTests {
    @Test(
        "every state and every event, as in states.json [dgram.restart] [dgram.path] [dgram.fallback]",
        arguments: try ChannelRow.all(of: \.datagrams))
    func row(_ row: ChannelRow) throws {
        for isProtected in [true, false] {
            // A plain link has no handshake, and no pair of an encrypted one.
            if !isProtected,
                row.state == "handshaking" || ["pairedProtected", "established"].contains(row.event)
            {
                continue
            }
            if isProtected, row.event == "pairedPlain" { continue }
            var bench = PathBench(isProtected: isProtected)
            bench.bring(to: row.state)
            #expect(bench.state == row.state)
            let told = bench.apply(row.event)
            #expect(bench.state == row.next, "\(row)")
            #expect(told.sorted() == row.actions.sorted(), "\(row)")
            #expect(bench.path.canCarry(1) == (row.next == "up"), "\(row)")
        }
    }
}

/// A path whose peer the test plays.
private struct PathBench {
    var path: DatagramPath
    private let isProtected: Bool
    private var now = Moment.start
    private var lastPing: [UInt8] = []
    private var sequence: UInt32 = 0

    init(isProtected: Bool) {
        self.isProtected = isProtected
        path = DatagramPath(isControlling: true, isProtected: isProtected, port: 5_000)
        _ = path.takeActions()
        _ = path.announce(1, at: now)
    }

    var state: String {
        switch path.phase {
        case .idle: "idle"
        case .shakingHands: "handshaking"
        case .probing: "probing"
        case .up: "up"
        case .resting: "resting"
        }
    }

    mutating func bring(to state: String) {
        guard state != "idle" else { return }
        apply("paired")
        guard state != "handshaking" else { return }
        apply("established")
        if state == "up" { apply("pong") }
        if state == "resting" { apply("faulted") }
    }

    @discardableResult
    mutating func apply(_ event: String) -> [String] {
        switch event {
        case "paired", "pairedProtected", "pairedPlain":
            path.receive(DatagramOffer(association: 2, port: 6_000), at: now)
        case "withdrawn": path.receive(DatagramOffer(association: 3, port: 0), at: now)
        case "established": path.established(at: now)
        case "faulted": path.failed(at: now)
        case "pong":
            guard !lastPing.isEmpty else { break }
            hear(.pong)
        case "late": pass(10_000, while: ["handshaking", "probing"])
        case "silent":
            if state == "probing" { hear(.ping) }
            pass(30_000, while: ["probing", "up"])
        case "rested": pass(40_000, while: ["resting"])
        default: Issue.record("\(event) is not an event that this test knows")
        }
        return note()
    }

    private mutating func hear(_ kind: ContentHeader.Kind) {
        var content = ByteBuffer()
        ContentHeader(kind, sequence: sequence).encode(into: &content)
        content.append(lastPing)
        sequence += 1
        _ = path.receive(content.takeAll().span, at: now)
    }

    /// Time in which nothing comes, up to the change of state.
    private mutating func pass(_ milliseconds: Int, while states: Set<String>) {
        guard states.contains(state) else { return }
        let end = now + .milliseconds(milliseconds)
        let before = state
        while state == before, let deadline = path.deadline, deadline <= end {
            now = deadline
            // Repetitions are no change of state.
            _ = note()
            path.advance(to: now)
        }
    }

    private mutating func note() -> [String] {
        path.takeActions().compactMap { action in
            switch action {
            case .drawAssociation: return "draw"
            case .begin: return "begin"
            case .drop: return "drop"
            case .retransmit: return nil
            case .send(let content):
                lastPing = Array(content.dropFirst(ContentHeader.byteCount))
                return "ping"
            case .up: return "up"
            case .down: return "down"
            case .withdraw: return "withdraw"
            }
        }
    }
}
