import MultipeerCore
import MultipeerFraming
@testable import MultipeerHandshake
import TestSupport
import Testing

@Suite("12 Limits of pending invitations", .computing)
struct InviteeLimitTests {
    @Test("sixteen invitations wait at once, and the next is answered with BUSY [invite.pending]")
    func sixteen() throws {
        var stage = try InviteeStage()
        for number in 1...16 as ClosedRange<UInt64> { try stage.invite(number, from: UInt8(number)) }
        #expect(stage.asked.count == 16)
        let next = try stage.invite(17, from: 17)
        #expect(try stage.answers(on: next) == [.busy])
        #expect(stage.closes(of: next) == [.ok])
        #expect(stage.asked.count == 16)
        #expect(stage.pendingCount == 16)
        try stage.invitee.refuse(stage.asked[3].question, .declined, at: .start)
        try stage.invite(18, from: 18)
        #expect(stage.asked.count == 17)
    }

    @Test("four invitations of one address wait at once, and the next is answered with BUSY [invite.pending]")
    func four() throws {
        var stage = try InviteeStage()
        for number in 1...4 as ClosedRange<UInt64> { try stage.invite(number, from: 1) }
        let next = try stage.invite(5, from: 1)
        #expect(try stage.answers(on: next) == [.busy])
        try stage.invite(6, from: 2)
        #expect(stage.asked.map(\.inviter.uid.low) == [1, 2, 3, 4, 6])
    }

    @Test("when there is no room, the newest of the address with the most is dropped [invite.pending]")
    func displaced() throws {
        var stage = try InviteeStage()
        var last: ConnectionID?
        for number in 1...14 as ClosedRange<UInt64> { try stage.invite(number, from: UInt8(number)) }
        for number in 15...16 as ClosedRange<UInt64> { last = try stage.invite(number, from: 20) }
        let newest = try #require(last)
        try stage.invite(17, from: 30)
        #expect(try stage.answers(on: newest) == [.busy])
        let question = try #require(stage.asked.first { $0.inviter.uid.low == 16 }?.question)
        #expect(stage.ending(of: question) == [.failed(.withdrawn)])
        #expect(stage.asked.last?.inviter.uid.low == 17)
        #expect(stage.pendingCount == 16)
        // Address 30 would now hold as many as any other: it makes room only for itself.
        let own = try stage.invite(18, from: 30)
        #expect(try stage.answers(on: own) == [.busy])
    }

    @Test("an accepted invitation is never dropped to make room [invite.pending]")
    func agreedStays() throws {
        var stage = try InviteeStage()
        for number in 1...14 as ClosedRange<UInt64> { try stage.invite(number, from: UInt8(number)) }
        for number in 15...16 as ClosedRange<UInt64> { try stage.invite(number, from: 20) }
        let latest = try #require(stage.asked.last)
        try stage.invitee.accept(
            latest.question, with: try stage.bob.made(for: latest.inviter), at: .start)
        try stage.invite(17, from: 30)
        #expect(stage.ending(of: latest.question).isEmpty)
        let other = try #require(stage.asked.first { $0.inviter.uid.low == 15 })
        #expect(stage.ending(of: other.question) == [.failed(.withdrawn)])
    }

    @Test("stopping keeps invitations that are accepted or about to be [invite.cancel]")
    func stopping() throws {
        var stage = try InviteeStage()
        let connections = try (1...3).map { try stage.invite($0, from: UInt8($0)) }
        let stranger = stage.connect(from: 4)
        let asked = stage.asked
        try stage.invitee.accept(asked[0].question, with: stage.bob.made(for: asked[0].inviter), at: .start)
        stage.invitee.stop(sparing: [asked[1].question], at: .start)
        stage.advance(to: .start)
        #expect(stage.closes(of: connections[2]) == [.cancelled])
        #expect(stage.closes(of: stranger) == [.cancelled])
        #expect(stage.ending(of: asked[2].question) == [.failed(.cancelled)])
        try stage.invitee.accept(asked[1].question, with: stage.bob.made(for: asked[1].inviter), at: .start)
        for (connection, question) in zip(connections, asked).prefix(2) {
            let data = try question.inviter.made(for: stage.bob)
            let id = question.inviter.invitation(to: stage.bob).id
            stage.say(.complete(Complete(id: id, connectionData: data.bytes)), on: connection)
            #expect(stage.ending(of: question.question) == [.completed(data)])
            #expect(stage.closes(of: connection) == [.ok])
        }
        #expect(stage.invitee.deadline == nil)
        // No new inviter gets that far.
        let late = stage.connect(from: 5)
        #expect(stage.closes(of: late) == [.cancelled])
    }

    @Test(
        "a second invitation of a peer takes over the connection without a new question [invite.pending]"
    )
    func again() throws {
        var stage = try InviteeStage()
        let first = try stage.invite(1, from: 1)
        let second = try stage.invite(1, from: 1, at: .after(.seconds(10)))
        #expect(stage.asked.count == 1)
        #expect(stage.closes(of: first) == [.duplicate])
        #expect(stage.invitee.deadline == .after(.seconds(30)))
        let asked = try #require(stage.asked.first)
        #expect(stage.ending(of: asked.question).isEmpty)
        try stage.invitee.accept(
            asked.question, with: try stage.bob.made(for: asked.inviter), at: .after(.seconds(29)))
        stage.advance(to: .after(.seconds(29)))
        #expect(try stage.answers(on: second) == [.ok])
        // While its COMPLETE is expected there is nothing to ask again.
        let third = try stage.invite(1, from: 1, at: .after(.seconds(30)))
        #expect(try stage.answers(on: third) == [.busy])
    }

    @Test(
        "an invitation that claims the same inviter from another address takes over nothing, and both are contested [invite.contested] [invite.pending]"
    )
    func impostor() throws {
        var stage = try InviteeStage()
        let first = try stage.invite(1, from: 1)
        let other = try stage.invite(1, from: 2)
        #expect(stage.closes(of: first).isEmpty && stage.closes(of: other).isEmpty)
        #expect(stage.asked.map(\.isContested) == [false, true])
        #expect(stage.contested == [stage.asked[0].question])
        for address in 3...4 as ClosedRange<UInt8> { try stage.invite(1, from: address) }
        let fifth = try stage.invite(1, from: 5)
        #expect(try stage.answers(on: fifth) == [.busy])
        #expect(stage.asked.count == 4)
        // The answer to one concerns that one alone.
        let second = stage.asked[1]
        try stage.invitee.accept(second.question, with: stage.bob.made(for: second.inviter), at: .start)
        stage.advance(to: .start)
        #expect(try stage.answers(on: other) == [.ok])
        #expect(try stage.answers(on: first) == [])
        // Later one of the others makes room, but not the one that was accepted.
        try stage.invite(1, from: 6, at: .after(.seconds(4)))
        #expect(stage.asked.count == 4)
        try stage.invite(1, from: 7, at: .after(.seconds(10)))
        #expect(stage.asked.count == 5)
    }

    @Test("without room, a question older than 10 s makes room for one of another address [invite.pending]")
    func hoarded() throws {
        var stage = try InviteeStage()
        for number in 1...16 as ClosedRange<UInt64> {
            try stage.invite(number, from: UInt8(number), timeout: 600)
        }
        let early = try stage.invite(17, from: 17, at: .after(.milliseconds(9_999)))
        #expect(try stage.answers(on: early) == [.busy])
        try stage.invite(18, from: 18, at: .after(.seconds(10)))
        #expect(stage.asked.last?.inviter.uid.low == 18)
        #expect(stage.pendingCount == 16)
    }

    @Test("IPv6 addresses with the same first 64 bits count as one [limit.prefix] [invite.pending]")
    func network() throws {
        var stage = try InviteeStage()
        for number in 1...4 as ClosedRange<UInt64> {
            let origin = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0] + [UInt8](repeating: UInt8(number), count: 8)
            try stage.invite(number, from: origin)
        }
        let origin = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0] + [UInt8](repeating: 9, count: 8)
        let fifth = try stage.invite(5, from: origin)
        #expect(try stage.answers(on: fifth) == [.busy])
        try stage.invite(6, from: [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1] + [UInt8](repeating: 9, count: 8))
        #expect(stage.asked.count == 5)
    }

    @Test("an address whose invitations were declined three times is quiet for a while [invite.quiet]")
    func quiet() throws {
        var stage = try InviteeStage()
        for number in 1...3 as ClosedRange<UInt64> {
            try stage.invite(number, from: 1)
            try stage.invitee.refuse(try #require(stage.asked.last).question, .declined, at: .start)
        }
        let fourth = try stage.invite(4, from: 1, at: .after(.milliseconds(59_999)))
        #expect(try stage.answers(on: fourth) == [.busy])
        try stage.invite(5, from: 2)
        #expect(stage.asked.last?.inviter.uid.low == 5)
        try stage.invite(6, from: 1, at: .after(.seconds(60)))
        let asked = try #require(stage.asked.last)
        #expect(asked.inviter.uid.low == 6)
        // An acceptance ends it.
        try stage.invitee.accept(
            asked.question, with: stage.bob.made(for: asked.inviter), at: .after(.seconds(60)))
        try stage.invite(7, from: 1, at: .after(.seconds(60)))
        try stage.invitee.refuse(try #require(stage.asked.last).question, .declined, at: .after(.seconds(60)))
        try stage.invite(8, from: 1, at: .after(.seconds(60)))
        #expect(stage.asked.last?.inviter.uid.low == 8)
    }

    @Test("refusals of more addresses than are remembered make no more memory [invite.quiet]")
    func refusedAddresses() {
        var refused = RefusedAddresses()
        let start = Moment.start
        for number in 0..<1_000 {
            let address = AddressGroup([10, 0, UInt8(number >> 8), UInt8(number & 255)])
            for _ in 0..<3 { refused.refused(address, at: start + .milliseconds(number)) }
        }
        #expect(refused.count == 64)
        #expect(refused.isQuiet(AddressGroup([10, 0, 3, 231]), at: start + .seconds(1)))
        refused.refused(AddressGroup([10, 9, 9, 9]), at: start + .seconds(661))
        #expect(refused.count == 1)
    }

    @Test("of addresses refused at one time the first is forgotten, in every run alike [invite.quiet]")
    func refusedTogether() {
        var refused = RefusedAddresses()
        let start = Moment.start
        let addresses = (0..<64 as Range<UInt8>).map { AddressGroup([10, 0, 0, $0]) }
        for address in addresses.reversed() { for _ in 0..<3 { refused.refused(address, at: start) } }
        refused.refused(AddressGroup([10, 9, 9, 9]), at: start + .milliseconds(1))
        #expect(refused.count == 64)
        let forgotten = addresses.filter { !refused.isQuiet($0, at: start + .milliseconds(1)) }
        #expect(forgotten == [addresses[0]])
    }

    @Test(
        "the fifth connection of an address without INVITE, or the 97th of all, drops one of the older ones [invite.pending]"
    )
    func strangers() throws {
        var stage = try InviteeStage()
        let ids = (0..<4).map { _ in stage.connect(from: 1) }
        #expect(stage.connect(from: 1, at: .after(.milliseconds(199))) == ConnectionID(rawValue: 0))
        _ = stage.connect(from: 1, at: .after(.milliseconds(200)))
        #expect(ids.count { stage.closes(of: $0) == [.busy] } == 1)
        #expect(stage.unprovenCount == 4)
        for number in 2...120 as ClosedRange<UInt8> {
            _ = stage.connect(from: number, at: .after(.milliseconds(400 + Int(number))))
        }
        #expect(stage.unprovenCount == 96)
        // One that has sent INVITE is no longer among them.
        try stage.invite(1, from: 130, at: .after(.seconds(1)))
        #expect(stage.unprovenCount == 95)
        #expect(stage.pendingCount == 1)
    }

    @Test("TLS and INVITE have five seconds, COMPLETE has five after the answer [invite.deadline]")
    func deadlines() throws {
        var stage = try InviteeStage()
        let accepted = stage.invitee.accepted(from: [192, 0, 2, 9], at: .start)
        let silent = try #require(accepted)
        let slow = stage.connect(from: 1)
        try stage.invite(1, from: 2, timeout: 600)
        #expect(stage.invitee.deadline == .after(.seconds(5)))
        stage.advance(to: .after(.seconds(5)))
        #expect(stage.closes(of: silent) == [.timeout])
        #expect(stage.closes(of: slow) == [.timeout])
        let asked = try #require(stage.asked.first)
        try stage.invitee.accept(
            asked.question, with: try stage.bob.made(for: asked.inviter), at: .after(.seconds(500)))
        #expect(stage.invitee.deadline == .after(.seconds(505)))
        stage.advance(to: .after(.seconds(505)))
        #expect(stage.ending(of: asked.question) == [.failed(.timedOut)])
        #expect(stage.invitee.deadline == nil)
    }

    @Test(
        "a timeout is 1 to 600 s, and anything else is refused [invite.timeout]",
        arguments: [0, 1, 600, 601, .max])
    func timeout(_ seconds: UInt32) throws {
        var stage = try InviteeStage()
        let id = try stage.invite(1, from: 1, timeout: seconds)
        let isRight = (1...600).contains(seconds)
        #expect(stage.asked.count == (isRight ? 1 : 0))
        #expect(stage.closes(of: id) == (isRight ? [] : [.protocolError]))
    }

    @Test("an answer is too late from the very moment of the timeout [invite.timeout] [invite.once]")
    func late() throws {
        var stage = try InviteeStage()
        try stage.invite(1, from: 1)
        let asked = try #require(stage.asked.first)
        let data = try stage.bob.made(for: asked.inviter)
        #expect(asked.deadline == .after(.seconds(30)))
        #expect(throws: InvitationFault.timedOut) {
            try stage.invitee.accept(asked.question, with: data, at: .after(.seconds(30)))
        }
        stage.advance(to: .after(.seconds(30)))
        #expect(stage.ending(of: asked.question) == [.failed(.timedOut)])
        #expect(throws: InvitationFault.timedOut) {
            try stage.invitee.refuse(asked.question, .declined, at: .after(.seconds(31)))
        }
    }

    @Test("an INVITE for another peer, or from oneself, is refused with a code of its own [invite.recipient]")
    func misdirected() throws {
        var stage = try InviteeStage()
        let (ann, carol) = (try PeerID.numbered(1), try PeerID.numbered(2))
        let wrong = stage.connect(from: 1)
        stage.say(.invite(ann.invitation(to: carol)), on: wrong)
        #expect(try stage.answers(on: wrong) == [.unknownPeer])
        let own = stage.connect(from: 2)
        stage.say(.invite(stage.bob.invitation(to: stage.bob)), on: own)
        #expect(try stage.answers(on: own) == [.itself])
        #expect(stage.asked.isEmpty)
    }

    @Test("an INVITE for the peer at the address, without its uid, becomes a question [invite.address]")
    func anyRecipient() throws {
        var stage = try InviteeStage()
        let id = stage.connect(from: 1)
        var invite = try PeerID.numbered(1).invitation(to: stage.bob)
        invite.recipient = .unspecified
        stage.say(.invite(invite), on: id)
        #expect(stage.asked.map(\.inviter) == [try .numbered(1)])
    }

    @Test("data of another peer, or for another, is not sent, and the question stays open [invite.data]")
    func foreignData() throws {
        var stage = try InviteeStage()
        try stage.invite(1, from: 1)
        let asked = try #require(stage.asked.first)
        let carol = try PeerID.numbered(2)
        for data in [try carol.made(for: asked.inviter), try stage.bob.made(for: carol)] {
            #expect(throws: InvitationFault.self) {
                try stage.invitee.accept(asked.question, with: data, at: .start)
            }
        }
        try stage.invitee.accept(asked.question, with: try stage.bob.made(for: asked.inviter), at: .start)
    }

    @Test(
        "a context of 32,768 bytes is passed on whole; one byte more is refused [invite.context]"
    )
    func context() throws {
        var stage = try InviteeStage()
        let (ann, whole) = (try PeerID.numbered(1), [UInt8](repeating: 5, count: 32_768))
        let id = stage.connect(from: 1)
        stage.say(.invite(ann.invitation(to: stage.bob, context: whole)), on: id)
        #expect(stage.asked.first?.context == whole)
        let other = stage.connect(from: 2)
        stage.say(
            .invite(try PeerID.numbered(2).invitation(to: stage.bob, context: whole + [5])), on: other)
        #expect(stage.closes(of: other) == [.protocolError])
        #expect(stage.asked.count == 1)
    }
}
