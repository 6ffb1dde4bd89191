import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@Suite("15 Connections that one peer has confirmed", .computing)
struct ConfirmedLimitTests {
    @Test("a controlled end closes a peer's oldest candidate for the fifth [limit.confirmed]")
    func controlled() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        let four = try (0..<4).map { _ in try stage.candidate() }
        #expect(four.allSatisfy { $0.actions.code(of: $0.id) == nil })
        let fifth = try stage.candidate()
        #expect(fifth.actions.filter(\.isClose) == [.close(four[0].id, .duplicate)])
        // The others go on: one of them may be the link.
        #expect(stage.give(four[1].id, .select).links == [four[1].id])
    }

    @Test(
        "the candidate on which SELECT was sent stays, and the next oldest is closed [limit.confirmed] [select.pending]"
    )
    func controlling() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let four = try (0..<4).map { _ in try stage.candidate() }
        let fifth = try stage.candidate()
        #expect(fifth.actions.filter(\.isClose) == [.close(four[1].id, .duplicate)])
        #expect(stage.give(four[0].id, .selected).links == [four[0].id])
    }

    @Test("connections that wait for the trust decision are counted, too [limit.confirmed]")
    func deciding() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        var confirmed: [ConnectionID] = []
        for number in 1...6 {
            let greeting = try stage.greet(trusted: false)
            let proof = stage.confirm(
                as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
            let closed = stage.give(greeting.id, proof).filter(\.isClose)
            #expect(closed == (number > 4 ? [.close(confirmed[number - 5], .duplicate)] : []))
            confirmed.append(greeting.id)
        }
    }

    @Test("connections without CONFIRM are not counted [limit.confirmed]")
    func greeted() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        for _ in 1...6 { #expect(try stage.greet().actions.filter(\.isClose).isEmpty) }
        #expect(try stage.candidate().actions.filter(\.isClose).isEmpty)
    }
}

extension LinkEstablishment.Action {
    fileprivate var isClose: Bool { if case .close = self { true } else { false } }
}
