import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("12 States of an invitation", .computing)
struct InvitationStateTests {
    @Test(
        "at the inviter, every state and every event, as in states.json [invite.order] [invite.once] [invite.cancel]",
        arguments: try ChannelRow.all(of: \.inviter))
    func inviter(_ row: ChannelRow) throws {
        var bench = try InviterBench()
        try bench.follow(row)
    }

    @Test(
        "at the invited peer, every state and every event, as in states.json [invite.order] [invite.once] [invite.cancel] [invite.deadline]",
        arguments: try ChannelRow.all(of: \.invitee))
    func invitee(_ row: ChannelRow) throws {
        var bench = try InviteeBench()
        try bench.follow(row)
    }

    @Test("the tables have one row for every state and event")
    func complete() throws {
        let machines: [KeyPath<ChannelRow.Machines, ChannelRow.Machine>] = [
            \.inviter, \.invitee, \.codeInviter, \.codeInvitee,
        ]
        for machine in machines {
            let rows = try ChannelRow.all { $0[keyPath: machine] }
            let pairs = Set(rows.map(\.testDescription))
            let states = Set(rows.map(\.state))
            let events = Set(rows.map(\.event))
            #expect(pairs.count == rows.count)
            #expect(rows.count == states.count * events.count)
        }
    }
}

/// What a machine did, in the words of the tables.
struct RecordedActions {
    var names: [String] = []
    var code: String?

    mutating func note(frame: [UInt8]) throws {
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        switch try Frame(header, Array(frame.dropFirst(FrameHeader.byteCount)).span) {
        case .invite: names.append("invite")
        case .answer(let answer):
            names.append("answer")
            code = answer.code.name
        case .complete: names.append("complete")
        case .share: names.append("share")
        case .confirmation: names.append("confirmation")
        default: names.append("another frame")
        }
    }

    mutating func note(closing code: CloseCode) {
        names.append(code == .ok ? "end" : "close")
        if code != .ok { self.code = code.name }
    }

    mutating func tell(_ fault: InvitationFault) {
        switch fault {
        case .declined: names.append("tellDeclined")
        case .incompatible: names.append("tellIncompatible")
        case .unreachable: names.append("tellUnreachable")
        case .withdrawn: names.append("tellWithdrawn")
        case .timedOut: names.append("tellTimedOut")
        case .cancelled: names.append("tellCancelled")
        case .protocolError: names.append("tellProtocolError")
        case .system: names.append("tellSystem")
        case .wrongCode: names.append("tellWrongCode")
        case .unknownCode: names.append("tellUnknownCode")
        default: names.append("another fault")
        }
    }
}

/// The two peers of the tables, and what they have for each other.
struct InvitationFixture {
    let ann: LocalPeer
    let bob: LocalPeer
    let annsData: ConnectionData
    let bobsData: ConnectionData
    /// Bob's, if he never encrypted; ann always does.
    let bobsPlainData: ConnectionData

    init() throws {
        ann = try stranger(UID(high: 0, low: 1), preference: .required)
        bob = try stranger(UID(high: 0, low: 2), preference: .optional)
        let plain = try stranger(UID(high: 0, low: 2), preference: .none)
        annsData = try Self.issue(ann, for: bob)
        bobsData = try Self.issue(bob, for: ann)
        bobsPlainData = try Self.issue(plain, for: ann)
    }

    private static func issue(_ one: LocalPeer, for other: LocalPeer) throws -> ConnectionData {
        var session = LinkEstablishment(one, seed: 1)
        return try session.issue(for: other.endpoint.uid, at: .start)
    }

    var names: (ann: PeerID, bob: PeerID) { (annsData.peer, bobsData.peer) }
}
