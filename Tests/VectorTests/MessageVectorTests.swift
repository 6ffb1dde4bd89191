import MultipeerFraming
import MultipeerLink
import MultipeerSecurity
import TestSupport
import Testing

struct MessageFrames: VectorBody {
    static let type = "messages"
    let maxMessage: UInt64
    let frames: [Part]
    let delivered: [Message]
    let reassembling: Int

    struct Part: Decodable {
        let kind: String
        let hex: Hex?
        let fill: Hex?
        let length: Int?
        let count: Int?

        var payload: [UInt8] { hex?.bytes ?? [UInt8](repeating: fill?.bytes.first ?? 0, count: length ?? 0) }
    }

    struct Message: Decodable, Equatable {
        let length: Int
        let sha256: Hex
    }
}

@Suite("8.1 Vectors of messages", .computing)
struct MessageVectorTests {
    @Test(
        "parts become messages, or end the link [msg.order] [msg.empty] [msg.max] [msg.part-size]",
        arguments: try VectorFiles.all(MessageFrames.self))
    func messages(_ vector: Vector<MessageFrames>) {
        var end = LinkEndpoint(maxMessage: vector.body.maxMessage)
        var delivered: [MessageFrames.Message] = []
        for part in vector.body.frames {
            let frame: Frame = part.kind == "MSG" ? .message(part.payload) : .messagePart(part.payload)
            let bytes = frame.bytes
            for _ in 0..<(part.count ?? 1) {
                end.receive(bytes)
                for message in end.link.takeMessages() {
                    let payload = message.bytes
                    delivered.append(.init(length: payload.count, sha256: Hex(SHA256.hash(payload))))
                    end.link.consumed(message.cost)
                }
            }
        }
        #expect(delivered == vector.body.delivered)
        #expect(end.violation.map { Fault(check($0), $0.closeCode.name) } == vector.fault)
        guard vector.isValid else { return }
        // An empty end shows what waited for it.
        end.receive(Frame.message([]).bytes)
        #expect(end.link.takeMessages().map(\.bytes.count) == [vector.body.reassembling])
    }

    private func check(_ violation: Violation) -> String {
        switch violation {
        case .messageTooLong: "max-message"
        case .partTooShort: "part-size"
        default: "\(violation)"
        }
    }
}
