import MultipeerCore
import MultipeerLink
import TestSupport
import Testing

/// What the links of a session report of long messages, and which of them has the turn.
struct TurnSteps: VectorBody {
    static let type = "turn"
    let messageCredit: UInt32
    let steps: [Step]

    struct Step: Decodable {
        let at: Int
        let `do`: String
        let link: UInt32?
        let wants: Bool?
        let spent: Int?
        let stopped: Bool?
        let holder: UInt32?
        let ends: UInt32?
    }
}

@Suite("15.2 Vectors of turns", .computing)
struct TurnVectorTests {
    @Test(
        "one link at a time has the turn, and brings enough while others wait [limit.reassembly]",
        arguments: try VectorFiles.all(TurnSteps.self))
    func turns(_ vector: Vector<TurnSteps>) throws {
        var turns = ReassemblyTurns(messageCredit: vector.body.messageCredit)
        for step in vector.body.steps {
            let now = Moment.after(step.at)
            if step.do == "report" {
                let report = ReassemblyTurns.Report(
                    wants: step.wants == true, brought: try #require(step.spent),
                    isHeldUp: step.stopped == true)
                turns.report(ConnectionID(rawValue: try #require(step.link)), report, at: now)
            } else {
                #expect(turns.advance(to: now)?.rawValue == step.ends, "at \(step.at)")
            }
            #expect(turns.holder?.rawValue == step.holder, "at \(step.at)")
        }
    }
}
