import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

struct LinkOverTime: VectorBody {
    static let type = "link-over-time"
    let steps: [Step]
    let end: End?

    struct Step: Decodable {
        let at: Int
        let `do`: String
        let hex: Hex?
        let replies: [Hex]?
        let verdict: String?
        let state: String
        let deadline: Int?
    }

    struct End: Decodable, Equatable {
        let by: String
        let code: String
        let reason: String
    }
}

@Suite("14 Vectors of a link over time", .computing)
struct LinkVectorTests {
    @Test(
        "a link sends PINGs, answers and ends at the times in the vector [live.ping] [live.idle-timeout] [live.resume] [live.pong] [close.after] [code.unknown]",
        arguments: try VectorFiles.all(LinkOverTime.self))
    func overTime(_ vector: Vector<LinkOverTime>) throws {
        var end = LinkEndpoint()
        for step in vector.body.steps {
            end.now = .after(step.at)
            switch step.do {
            case "receive":
                end.receive(try #require(step.hex).bytes)
                #expect(end.written().map { Hex($0.bytes) } == step.replies)
            case "look":
                end.link.advance(to: end.now)
                let written = end.written()
                let verdict =
                    end.link.end == .timedOut ? "dead" : written.contains(where: \.isPing) ? "ping" : nil
                #expect(verdict == step.verdict, "at \(step.at)")
            default: Issue.record("there is no step \(step.do)")
            }
            #expect(end.state == step.state, "at \(step.at)")
            #expect(end.deadline == step.deadline.map(Moment.after), "at \(step.at)")
        }
        #expect(end.link.end.flatMap(told) == vector.body.end)
        if let code = vector.fault?.code { #expect(end.link.end?.closeCode?.name == code) }
    }

    private func told(_ end: LinkCloseReason) -> LinkOverTime.End? {
        switch end {
        case .closedByPeer(let code, let reason): .init(by: "peer", code: code.known.name, reason: reason)
        default: end.closeCode.map { .init(by: "us", code: $0.name, reason: "") }
        }
    }
}
