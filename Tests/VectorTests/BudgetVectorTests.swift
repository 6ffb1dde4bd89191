import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

struct Budget: VectorBody {
    static let type = "budget"
    let steps: [Step]

    struct Step: Decodable {
        let at: Int64
        let kind: UInt8
        let channel: UInt32
        let count: Int
        let stride: UInt32?
        let hex: Hex?
        let fill: UInt8?
        let length: Int?

        var payload: [UInt8] { hex?.bytes ?? [UInt8](repeating: fill ?? 0, count: length ?? 0) }
    }
}

@Suite("15.2 Vectors of budgets", .computing)
struct BudgetVectorTests {
    @Test(
        "time and traffic fill the budget of control frames [limit.control] [limit.empty] [channel.exempt]",
        arguments: try VectorFiles.all(Budget.self))
    func budget(_ vector: Vector<Budget>) throws {
        var end = LinkEndpoint()
        for (number, step) in vector.body.steps.enumerated() {
            #expect(end.violation == nil, "before step \(number)")
            end.now = .start + .milliseconds(step.at)
            let payload = step.payload
            for turn in 0..<UInt32(step.count) {
                let channel = step.channel + turn * (step.stride ?? 0)
                let length = UInt32(payload.count) << 8 | UInt32(step.kind)
                end.receive(bytes(of: length) + bytes(of: channel) + payload)
                for message in end.link.takeMessages() { end.link.consumed(message.cost) }
                _ = end.link.takeChannelEvents()
                _ = end.written()
            }
        }
        let check: String? =
            switch end.violation {
            case nil: nil
            case .tooManyEmptyFrames: "empty"
            default: "budget"
            }
        #expect(check == vector.fault?.check)
        #expect(end.violation?.closeCode.name == vector.fault?.code)
    }

    private func bytes(of number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
    }
}
