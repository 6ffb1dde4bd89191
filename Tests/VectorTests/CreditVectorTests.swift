import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

struct CreditOfReceiver: VectorBody {
    static let type = "credit-receiver"
    let messageCredit: UInt32
    let steps: [Step]
    let spent: Int
    let limit: UInt64

    struct Step: Decodable {
        let `do`: String
        let length: Int?
        let messages: Int?
        let credit: UInt64?
        let error: String?
    }
}

struct CreditOfSender: VectorBody {
    static let type = "credit-sender"
    let initialLimit: UInt64
    let steps: [Step]
    let spent: UInt64
    let limit: UInt64

    struct Step: Decodable {
        let `do`: String
        let length: Int?
        let limit: UInt64?
        let allowed: Bool?
        let left: Int?
        let error: String?
    }
}

@Suite("8.3 Vectors of message credit", .computing)
struct CreditVectorTests {
    @Test(
        "a receiver counts, refuses and returns credit [msg.cost] [msg.credit-limit] [msg.credit-return]",
        arguments: try VectorFiles.all(CreditOfReceiver.self))
    func receiver(_ vector: Vector<CreditOfReceiver>) throws {
        var end = LinkEndpoint(messageCredit: vector.body.messageCredit)
        var waiting: [IncomingMessage] = []
        var (spent, limit) = (0, UInt64(vector.body.messageCredit))
        for (number, step) in vector.body.steps.enumerated() {
            if step.do == "take" {
                for _ in 0..<(try #require(step.messages)) { end.link.consumed(waiting.removeFirst().cost) }
            } else {
                let payload = [UInt8](repeating: 1, count: try #require(step.length))
                end.receive((step.do == "MSG" ? Frame.message(payload) : .messagePart(payload)).bytes)
                waiting += end.link.takeMessages()
                if step.error == nil { spent += MessageCredit.cost(payload.count) }
            }
            #expect(end.violation?.closeCode.name == step.error, "step \(number)")
            let granted = end.written().compactMap { frame -> UInt64? in
                if case .credit(channel: 0, let limit) = frame { limit } else { nil }
            }
            #expect(granted == (step.credit.map { [$0] } ?? []), "step \(number)")
            limit = granted.last ?? limit
        }
        #expect(spent == vector.body.spent)
        #expect(limit == vector.body.limit)
        if case .beyondMessageCredit = end.violation {
            #expect(vector.fault == Fault("credit-limit", "FLOW"))
        } else {
            #expect(vector.fault == nil)
        }
    }

    @Test(
        "a sender uses the credit it has, and the limit must grow [msg.cost] [msg.credit-limit] [msg.credit-grow]",
        arguments: try VectorFiles.all(CreditOfSender.self))
    func sender(_ vector: Vector<CreditOfSender>) throws {
        var sendWindow = MessageCredit.SendWindow(limit: vector.body.initialLimit)
        var (spent, limit) = (UInt64(0), vector.body.initialLimit)
        var fault: Fault?
        for (number, step) in vector.body.steps.enumerated() {
            if step.do == "grant" {
                let new = try #require(step.limit)
                do throws(Violation) {
                    try sendWindow.raise(to: new)
                    limit = new
                } catch {
                    #expect(error == .creditDidNotGrow(new))
                    #expect(error.closeCode.name == step.error, "step \(number)")
                    fault = Fault("credit-grow", error.closeCode.name)
                }
            } else {
                let cost = MessageCredit.cost(try #require(step.length))
                #expect((cost <= sendWindow.left) == step.allowed, "step \(number)")
                if cost <= sendWindow.left {
                    sendWindow.spend(cost)
                    spent += UInt64(cost)
                }
            }
            if let left = step.left { #expect(sendWindow.left == left, "step \(number)") }
        }
        #expect(spent == vector.body.spent)
        #expect(limit == vector.body.limit)
        #expect(fault == vector.fault)
    }
}
