import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("6.3 CONFIRM", .computing)
struct ConfirmTests {
    @Test(
        "a mac as specified, made for the role of its sender, makes a candidate [confirm.mac] [confirm.role]")
    func genuine() throws {
        for preference in [EncryptionPreference.optional, .none] {
            var stage = try Stage(preference, weAreLower: true)
            try stage.connect()
            let greeting = try stage.greet()
            let own = stage.confirm(as: .responder, initiator: greeting.theirs, responder: greeting.ours)
            #expect(greeting.actions.sent(on: greeting.id) == [greeting.ours, own])
            let proof = stage.confirm(as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
            #expect(stage.give(greeting.id, proof) == [.send(greeting.id, Stage.bytes(.select))])
        }
    }

    @Test("one wrong bit, wherever it is, is refused with BAD_MAC [confirm.mac]", arguments: 0..<32)
    func bit(_ byte: Int) throws {
        var stage = try Stage()
        try stage.connect()
        let greeting = try stage.greet()
        var proof = stage.confirm(as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
        proof[FrameHeader.byteCount + byte] ^= 1 << UInt8(byte % 8)
        #expect(stage.give(greeting.id, proof) == [.close(greeting.id, .badMAC)])
    }

    @Test("a mac with the tokens in the other order is refused [confirm.mac]")
    func tokens() throws {
        var stage = try Stage()
        try stage.connect()
        let greeting = try stage.greet()
        let proof = stage.confirm(
            as: .initiator, initiator: greeting.theirs, responder: greeting.ours, swapsTokens: true)
        #expect(stage.give(greeting.id, proof).code(of: greeting.id) == .badMAC)
    }

    @Test("a mac over a HELLO other than the received one is refused [confirm.mac]")
    func transcript() throws {
        var stage = try Stage()
        try stage.connect()
        let greeting = try stage.greet()
        let said = stage.hello { $0.nonce[31] ^= 1 }
        let proof = stage.confirm(as: .initiator, initiator: said, responder: greeting.ours)
        #expect(stage.give(greeting.id, proof).code(of: greeting.id) == .badMAC)
    }

    @Test("a mac that was made on another connection is refused [confirm.binding]")
    func binding() throws {
        var stage = try Stage()
        try stage.connect()
        let greeting = try stage.greet()
        let proof = stage.confirm(
            as: .initiator, initiator: greeting.theirs, responder: greeting.ours,
            binding: [UInt8](repeating: 0, count: 32))
        #expect(stage.give(greeting.id, proof).code(of: greeting.id) == .badMAC)
    }

    @Test("a peer that returns the own CONFIRM is refused [confirm.role]")
    func reflection() throws {
        var stage = try Stage()
        try stage.connect()
        let greeting = try stage.greet()
        let own = try #require(greeting.actions.sent(on: greeting.id).last)
        #expect(own.count == FrameHeader.byteCount + 32)
        #expect(stage.give(greeting.id, own).code(of: greeting.id) == .badMAC)
    }

    @Test("CONFIRM before HELLO and a second CONFIRM are refused with PROTOCOL [confirm.order]")
    func order() throws {
        var stage = try Stage()
        try stage.connect()
        let early = stage.accept()
        #expect(stage.give(early, .confirm(mac: Stage.binding)).code(of: early) == .protocolError)
        let greeting = try stage.greet()
        let proof = stage.confirm(as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
        #expect(stage.give(greeting.id, proof).code(of: greeting.id) == nil)
        #expect(stage.give(greeting.id, proof).code(of: greeting.id) == .protocolError)
    }

    @Test(
        "CONFIRM during the trust decision is checked at once and kept [confirm.order] [trust.before-confirm]"
    )
    func kept() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let greeting = try stage.greet(trusted: false)
        #expect(greeting.actions.sent(on: greeting.id) == [greeting.ours])
        let proof = stage.confirm(as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
        #expect(stage.give(greeting.id, proof).isEmpty)
        stage.machine.decide(stage.peer.endpoint.uid, asked: greeting.id, isTrusted: true, at: stage.now)
        let own = stage.confirm(as: .responder, initiator: greeting.theirs, responder: greeting.ours)
        #expect(stage.machine.takeActions().sent(on: greeting.id) == [own, Stage.bytes(.select)])

        let second = try stage.greet(trusted: false)
        #expect(stage.give(second.id, own).code(of: second.id) == .badMAC)
    }

    @Test("CONFIRM is sent without waiting for the peer's [confirm.order]")
    func atOnce() throws {
        var stage = try Stage(weAreLower: true)
        let dial = try #require(try stage.connect().dials.first)
        stage.machine.secured(dial.id, stage.channel, nonce: [UInt8](repeating: 1, count: 32), at: stage.now)
        let greeting = try #require(stage.machine.takeActions().sent(on: dial.id).first)
        let answer = stage.hello()
        #expect(stage.give(dial.id, answer) == [.ask(stage.peer.endpoint.uid, dial.id)])
        stage.machine.decide(stage.peer.endpoint.uid, asked: dial.id, isTrusted: true, at: stage.now)
        let own = stage.confirm(as: .initiator, initiator: greeting, responder: answer, peerInitiates: false)
        #expect(stage.machine.takeActions() == [.send(dial.id, own)])
    }
}
