import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import TestSupport
import Testing

@Suite("14 Peer states seen by the application", .computing)
struct PeerStateTableTests {
    private let ann = UID(high: 1, low: 1)

    @Test("every state and every event, as in states.json [state.serial]")
    func table() throws {
        let table = try StateTable.named("peer")
        #expect(table.states == PeerStateMachine.State.allCases.map(\.rawValue))
        #expect(Set(table.events.keys) == Set(PeerStateMachine.Event.allCases.map(\.rawValue)))
        #expect(
            table.rows.count == PeerStateMachine.State.allCases.count * PeerStateMachine.Event.allCases.count)
        for row in table.rows {
            let state = try #require(PeerStateMachine.State(rawValue: row.state))
            let event = try #require(PeerStateMachine.Event(rawValue: row.event))
            let (next, heard) = PeerStateMachine.next(state, on: event)
            #expect(next.rawValue == row.next, "\(row)")
            #expect(heard.map(\.rawValue) == row.notify, "\(row)")
        }
    }

    @Test(
        "after any events in any order, no state is reported twice in a row [state.serial] [state.reason]",
        arguments: 1...20 as ClosedRange<UInt64>)
    func serial(_ seed: UInt64) {
        var random = Seeded(seed)
        var roster = PeerStateTable()
        let lost = DisconnectReason(code: .lost)
        let events: [PeerStateTable.Event] = [
            .connectRequested, .attemptLost, .abandoned(lost), .linked, .linkEnded(lost), .superseded, .left,
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

    @Test("a peer that is no longer connected has the reason that ended it [state.reason]")
    func reasons() {
        var roster = PeerStateTable()
        let full = DisconnectReason(code: .full, closeCode: .full)
        #expect(roster.handle(.connectRequested, of: ann) == [.init(ann, .connecting)])
        #expect(roster.handle(.abandoned(full), of: ann) == [.init(ann, .notConnected(full))])
        #expect(roster.handle(.linked, of: ann) == [.init(ann, .connecting), .init(ann, .connected)])
        #expect(
            roster.handle(.superseded, of: ann)
                == [.init(ann, .notConnected(DisconnectReason(code: .superseded))), .init(ann, .connected)])
        #expect(roster.handle(.left, of: ann) == [.init(ann, .notConnected(DisconnectReason(code: .left)))])
    }

    @Test("there are seven slots, and a linked peer keeps its own [limit.links]")
    func slots() {
        var roster = PeerStateTable()
        for number in 1...7 as ClosedRange<UInt64> {
            let peer = UID(high: 0, low: number)
            #expect(roster.hasLinkCapacity(for: peer))
            _ = roster.handle(.linked, of: peer)
        }
        #expect(!roster.hasLinkCapacity(for: ann))
        #expect(roster.hasLinkCapacity(for: UID(high: 0, low: 3)))
        _ = roster.handle(.linkEnded(DisconnectReason(code: .lost)), of: UID(high: 0, low: 3))
        #expect(roster.hasLinkCapacity(for: ann))
    }

    @Test("leaving reports every peer once, in the order of their ids [state.serial]")
    func leave() {
        var roster = PeerStateTable()
        for number in [3, 1, 2] as [UInt64] { _ = roster.handle(.linked, of: UID(high: 0, low: number)) }
        _ = roster.handle(.connectRequested, of: UID(high: 0, low: 9))
        let told = roster.leave()
        #expect(told.map(\.peer.low) == [1, 2, 3, 9])
        #expect(told.allSatisfy { $0.state == .notConnected(DisconnectReason(code: .left)) })
        #expect(roster.leave().isEmpty)
        #expect(roster.peers(.connected).isEmpty)
    }
}

@Suite("14 Reasons", .computing)
struct DisconnectReasonTests {
    @Test(
        "every end of a link has one reason [state.reason]",
        arguments: [
            (.closedByPeer(.goodbye, reason: ""), .goodbye), (.closedByPeer(.full, reason: ""), .full),
            (.closedByPeer(.protocolError, reason: ""), .closedByPeer), (.closed(.goodbye), .left),
            (.closed(.timeout), .timedOut), (.closed(.cancelled), .cancelled),
            (.violation(.tooManyControlFrames), .protocolViolation), (.superseded, .superseded),
            (.timedOut, .timedOut), (.lost, .lost),
        ] as [(LinkCloseReason, DisconnectReason.Code)])
    func links(_ end: LinkCloseReason, _ code: DisconnectReason.Code) {
        #expect(DisconnectReason(end).code == code)
    }

    @Test(
        "GOODBYE is a departure, as is FULL after an entry; UNKNOWN_PEER after an entry is a dismissal [mesh.departed] [mesh.dismiss]",
        arguments: [
            (.closedByPeer(.goodbye, reason: ""), false, true),
            (.closedByPeer(.full, reason: ""), true, true),
            (.closedByPeer(.full, reason: ""), false, false),
            (.timedOut, true, false), (.lost, true, false),
            (.closedByPeer(.unknownPeer, reason: ""), true, false),
            (.closedByPeer(.unknownPeer, reason: ""), false, false),
        ] as [(LinkCloseReason, Bool, Bool)])
    func departures(_ end: LinkCloseReason, hasTold: Bool, hasDeparted: Bool) {
        let reason = DisconnectReason(end)
        #expect(reason.hasDeparted(hasTold: hasTold) == hasDeparted)
        #expect(reason.isDismissal(hasTold: hasTold) == (hasTold && reason.code == .unknownPeer))
        // From this side.
        #expect(!DisconnectReason(code: .full).hasDeparted(hasTold: hasTold))
        #expect(DisconnectReason(code: .full).isDismissal(hasTold: hasTold))
    }

    @Test(
        "every failed attempt and every refusal has one reason [state.reason]",
        arguments: [
            (DisconnectReason(LinkAttemptFailure.timedOut(.lost)), .timedOut),
            (DisconnectReason(LinkAttemptFailure.refusedByPeer(.rejected)), .rejected),
            (DisconnectReason(LinkAttemptFailure.refusedByPeer(.itself)), .selfConnection),
            (DisconnectReason(LinkAttemptFailure.refused(.policy)), .policy),
            (DisconnectReason(LinkAttemptFailure.cancelled), .cancelled),
            (DisconnectReason(LinkEstablishment.Refusal.full), .full),
            (DisconnectReason(LinkEstablishment.Refusal.itself), .selfConnection),
        ] as [(DisconnectReason, DisconnectReason.Code)])
    func attempts(_ reason: DisconnectReason, _ code: DisconnectReason.Code) {
        #expect(reason.code == code)
    }

    @Test("an unknown code is read as INTERNAL, and the number is kept [code.unknown]")
    func unknown() {
        let reason = DisconnectReason(
            LinkCloseReason.closedByPeer(CloseCode(rawValue: 999), reason: "why not"))
        #expect(reason.code == .closedByPeer)
        #expect(reason.closeCode?.known == .internal)
        #expect(reason.description == "the peer closed the link (INTERNAL (999)): why not")
    }

    @Test("a reason is printed as one line in lower case [state.reason]")
    func words() {
        #expect(DisconnectReason(LinkCloseReason.lost).description == "the connection was lost")
        #expect(
            DisconnectReason(LinkCloseReason.violation(.partTooShort(3))).description
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
