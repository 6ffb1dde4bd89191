import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh
import TestSupport
import Testing

@Suite("14 What the application is told of a peer", .computing)
struct RosterTests {
    private let ann = UID(high: 1, low: 1)

    @Test("every state and every event, as in states.json [state.serial]")
    func table() throws {
        let table = try StateTable.named("peer")
        #expect(table.states == PeerStates.State.allCases.map(\.rawValue))
        #expect(Set(table.events.keys) == Set(PeerStates.Event.allCases.map(\.rawValue)))
        #expect(table.rows.count == PeerStates.State.allCases.count * PeerStates.Event.allCases.count)
        for row in table.rows {
            let state = try #require(PeerStates.State(rawValue: row.state))
            let event = try #require(PeerStates.Event(rawValue: row.event))
            let (next, heard) = PeerStates.next(state, on: event)
            #expect(next.rawValue == row.next, "\(row)")
            #expect(heard.map(\.rawValue) == row.notify, "\(row)")
        }
    }

    @Test(
        "whatever happens in whatever order, no state is told twice in a row [state.serial] [state.reason]",
        arguments: 1...20 as ClosedRange<UInt64>)
    func serial(_ seed: UInt64) {
        var random = Seeded(seed)
        var roster = Roster()
        let lost = EndReason(code: .lost)
        let events: [Roster.Event] = [
            .sought, .attemptLost, .abandoned(lost), .linked, .linkEnded(lost), .superseded, .left,
        ]
        var last = "notConnected"
        for _ in 0..<300 {
            guard let event = events.randomElement(using: &random) else { break }
            for change in roster.handle(event, of: ann) {
                #expect(change.peer == ann)
                #expect(change.state.name != last)
                last = change.state.name
            }
            #expect(roster.state(of: ann).rawValue == last)
        }
    }

    @Test("a peer that is not connected any more has the reason of what ended it [state.reason]")
    func reasons() {
        var roster = Roster()
        let full = EndReason(code: .full, closeCode: .full)
        #expect(roster.handle(.sought, of: ann) == [.init(ann, .connecting)])
        #expect(roster.handle(.abandoned(full), of: ann) == [.init(ann, .notConnected(full))])
        #expect(roster.handle(.linked, of: ann) == [.init(ann, .connecting), .init(ann, .connected)])
        #expect(
            roster.handle(.superseded, of: ann)
                == [.init(ann, .notConnected(EndReason(code: .superseded))), .init(ann, .connected)])
        #expect(roster.handle(.left, of: ann) == [.init(ann, .notConnected(EndReason(code: .left)))])
    }

    @Test("there are seven seats, and a linked peer keeps its own [limit.links]")
    func seats() {
        var roster = Roster()
        for number in 1...7 as ClosedRange<UInt64> {
            let peer = UID(high: 0, low: number)
            #expect(roster.hasSeat(for: peer))
            _ = roster.handle(.linked, of: peer)
        }
        #expect(!roster.hasSeat(for: ann))
        #expect(roster.hasSeat(for: UID(high: 0, low: 3)))
        _ = roster.handle(.linkEnded(EndReason(code: .lost)), of: UID(high: 0, low: 3))
        #expect(roster.hasSeat(for: ann))
    }

    @Test("leaving tells of every peer once, in the order of their ids [state.serial]")
    func leave() {
        var roster = Roster()
        for number in [3, 1, 2] as [UInt64] { _ = roster.handle(.linked, of: UID(high: 0, low: number)) }
        _ = roster.handle(.sought, of: UID(high: 0, low: 9))
        let told = roster.leave()
        #expect(told.map(\.peer.low) == [1, 2, 3, 9])
        #expect(told.allSatisfy { $0.state == .notConnected(EndReason(code: .left)) })
        #expect(roster.leave().isEmpty)
        #expect(roster.peers(.connected).isEmpty)
    }
}

@Suite("14 Reasons", .computing)
struct EndReasonTests {
    @Test(
        "every end of a link has one reason [state.reason]",
        arguments: [
            (.closedByPeer(.goodbye, reason: ""), .goodbye), (.closedByPeer(.full, reason: ""), .full),
            (.closedByPeer(.protocolError, reason: ""), .closedByPeer), (.closed(.goodbye), .left),
            (.closed(.timeout), .timedOut), (.closed(.cancelled), .cancelled),
            (.violation(.tooManyControlFrames), .protocolViolation), (.superseded, .superseded),
            (.timedOut, .timedOut), (.lost, .lost),
        ] as [(LinkEnd, EndReason.Code)])
    func links(_ end: LinkEnd, _ code: EndReason.Code) {
        #expect(EndReason(end).code == code)
    }

    @Test(
        "GOODBYE is a departure, FULL is one behind an entry, and UNKNOWN_PEER there a dismissal [mesh.departed] [mesh.dismiss]",
        arguments: [
            (.closedByPeer(.goodbye, reason: ""), false, true),
            (.closedByPeer(.full, reason: ""), true, true),
            (.closedByPeer(.full, reason: ""), false, false),
            (.timedOut, true, false), (.lost, true, false),
            (.closedByPeer(.unknownPeer, reason: ""), true, false),
            (.closedByPeer(.unknownPeer, reason: ""), false, false),
        ] as [(LinkEnd, Bool, Bool)])
    func departures(_ end: LinkEnd, hasTold: Bool, hasDeparted: Bool) {
        let reason = EndReason(end)
        #expect(reason.hasDeparted(hasTold: hasTold) == hasDeparted)
        #expect(reason.isDismissal(hasTold: hasTold) == (hasTold && reason.code == .unknownPeer))
        // From this side.
        #expect(!EndReason(code: .full).hasDeparted(hasTold: hasTold))
        #expect(EndReason(code: .full).isDismissal(hasTold: hasTold))
    }

    @Test(
        "every failed attempt and every refusal has one reason [state.reason]",
        arguments: [
            (EndReason(IntroductionFailure.timedOut(.lost)), .timedOut),
            (EndReason(IntroductionFailure.refusedByPeer(.rejected)), .rejected),
            (EndReason(IntroductionFailure.refusedByPeer(.itself)), .selfConnection),
            (EndReason(IntroductionFailure.refused(.policy)), .policy),
            (EndReason(IntroductionFailure.cancelled), .cancelled),
            (EndReason(Introductions.Refusal.full), .full),
            (EndReason(Introductions.Refusal.itself), .selfConnection),
        ] as [(EndReason, EndReason.Code)])
    func attempts(_ reason: EndReason, _ code: EndReason.Code) {
        #expect(reason.code == code)
    }

    @Test("a code that nobody knows is read as INTERNAL, and the number is kept [code.unknown]")
    func unknown() {
        let reason = EndReason(LinkEnd.closedByPeer(CloseCode(rawValue: 999), reason: "why not"))
        #expect(reason.code == .closedByPeer)
        #expect(reason.closeCode?.known == .internal)
        #expect(reason.description == "the peer closed the link (INTERNAL (999)): why not")
    }

    @Test("a reason reads as one line in lower case [state.reason]")
    func words() {
        #expect(EndReason(LinkEnd.lost).description == "the connection was lost")
        #expect(
            EndReason(LinkEnd.violation(.partTooShort(3))).description
                == "the peer broke the protocol (FLOOD): a message part of 3 bytes is too short")
    }
}

extension PeerState {
    fileprivate var name: String {
        switch self {
        case .notConnected: "notConnected"
        case .connecting: "connecting"
        case .connected: "connected"
        }
    }
}
