import FuzzBodies
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh
import TestSupport
import Testing

/// Every state of a member against every event: the membership does what the table states, and nothing else.
@Suite("14.5 States of a member", .computing)
struct MemberStateTests {
    @Test(
        "every state and every event, as in states.json [mesh.dial] [mesh.retry] [mesh.unreported] [mesh.withdraw] [mesh.missed]"
    )
    func table() throws {
        let table = try StateTable.named("member")
        #expect(table.rows.count == table.states.count * table.events.count)
        for row in table.rows where !Self.impossible.contains(row.description) {
            var stage = try MemberStage(in: row.state, before: row.event)
            #expect(try stage.state == row.state, "\(row)")
            let actions = try stage.apply(row.event)
            #expect(actions == row.actions, "\(row)")
            #expect(try stage.state == row.next, "\(row)")
        }
    }

    /// One link to an endpoint excludes a second, a pause is over before 60 s are, and the outcome with an endpoint that was linked
    /// is not refused.
    private static let impossible: Set = [
        "linked, linked", "resting, forgotten", "pausing, forgotten", "resting, relinquished",
        "pausing, relinquished", "departed, relinquished", "missed, hopeless",
    ]
}

/// A session with a link to Bob, who may introduce Cat, the member of the table, and a crowd.
private struct MemberStage {
    private var membership: Membership
    private var now = Moment(nanoseconds: 0)
    private var sequence: UInt32 = 0
    private var catData: ConnectionData
    private var isCatListed = false
    private var isCrowdListed = false
    private var isLinked = false
    /// Whether an attempt to connect to Cat was requested, and its outcome was not reported yet.
    private var isSought = false
    private var actions: [String] = []

    private static let (local, bob, cat, other) = (endpoint(1), endpoint(2), endpoint(3), endpoint(4))
    /// As many peers as may be connecting at once.
    private static let crowd = (11...18).map { endpoint($0) }
    private static let (linkToBob, linkToOther, linkToCat) = (
        ConnectionID(rawValue: 1), ConnectionID(rawValue: 2), ConnectionID(rawValue: 3)
    )

    /// In a state, in which the event may happen.
    init(in state: String, before event: String) throws {
        catData = try MemberStage.data(of: MemberStage.cat)
        membership = Membership(MemberStage.local, peers: 4, seed: 1)
        membership.publish(try MemberStage.data(of: MemberStage.local), at: now)
        membership.linked(MemberStage.linkToBob, to: MemberStage.bob, isMesh: true, at: now)
        membership.linked(MemberStage.linkToOther, to: MemberStage.other, isMesh: false, at: now)
        if state == "waiting" || state == "unknown" && event == "crowded" { try bringCrowd() }
        for event in MemberStage.path(to: state) { _ = try apply(event) }
        guard state == "unknown", event == "returned" else { return }
        for event in ["reached", "failed", "unreached"] { _ = try apply(event) }
    }

    private static func path(to state: String) -> [String] {
        switch state {
        case "waiting": ["crowded"]
        case "connecting": ["reached"]
        case "resting": ["reached", "failed"]
        case "pausing": ["reached", "linked", "linkFlickered"]
        case "barred": ["reached", "hopeless"]
        case "linked": ["reached", "linked"]
        case "departed": ["reached", "linked", "goodbye"]
        case "missed": ["reached", "linked", "linkMissed"]
        default: []
        }
    }

    /// Applies an event, and returns the membership's actions about Cat.
    mutating func apply(_ event: String) throws -> [String] {
        actions = []
        switch event {
        case "reached", "crowded", "returned": try tellOfCat()
        case "unreached": try tellOfBob(withCat: false)
        case "fresh":
            if isSought { wait(.seconds(5)) }
            catData = try MemberStage.data(of: MemberStage.cat, variant: 1)
            try tell(catData, linkedTo: [MemberStage.bob])
        case "place": membership.attemptEnded(MemberStage.crowd[0].uid, isHopeless: true, at: now)
        case "failed", "hopeless":
            isSought = false
            membership.attemptEnded(
                MemberStage.cat.uid, isMissed ? .timedOut : .failed, isHopeless: event == "hopeless", at: now)
        case "rested": wait(.seconds(7))
        case "forgotten": wait(.seconds(61))
        case "relinquished": wait(.seconds(601))
        case "linked":
            (isLinked, isSought) = (true, false)
            membership.linked(MemberStage.linkToCat, to: MemberStage.cat, isMesh: true, at: now)
        case "linkLost", "linkBroken", "linkFlickered", "linkMissed", "goodbye": try endLink(event)
        default: Issue.record("\(event) is not an event that this test knows")
        }
        note()
        return actions
    }

    private mutating func endLink(_ event: String) throws {
        if isLinked, ["linkLost", "linkMissed"].contains(event) { try tellOfBob(withCat: false) }
        if isLinked, ["linkBroken", "linkMissed"].contains(event) { wait(.seconds(30)) }
        let link = isLinked ? MemberStage.linkToCat : MemberStage.linkToOther
        isLinked = false
        membership.linkEnded(
            link, hasDeparted: event == "goodbye", isLost: event == "linkMissed", at: now)
    }
}

// MARK: which state it is in, found out on copies

extension MemberStage {
    var state: String {
        get throws {
            guard !isLinked else { return "linked" }
            guard membership.component.contains(MemberStage.cat) else {
                return isMissed ? "missed" : try isIgnored ? "departed" : "unknown"
            }
            guard !isSought else { return "connecting" }
            switch try afterPause {
            case ["connect"]: return "pausing"
            case ["reconnect"]: return "resting"
            default: return try afterCrowd.isEmpty ? "barred" : "waiting"
            }
        }
    }

    private var isMissed: Bool { membership.isCutOff(MemberStage.cat) }

    private var isIgnored: Bool {
        get throws {
            var copy = self
            try copy.tellOfCat()
            return !copy.membership.component.contains(MemberStage.cat)
        }
    }

    private var afterPause: [String] {
        get throws {
            var copy = self
            return try copy.apply("rested")
        }
    }

    private var afterCrowd: [String] {
        get throws {
            var copy = self
            return try copy.apply("place")
        }
    }
}

// MARK: Bob's entries, and their results

extension MemberStage {
    private mutating func tellOfCat() throws {
        try tell(catData, linkedTo: [MemberStage.bob])
        try tellOfBob(withCat: true)
    }

    private mutating func bringCrowd() throws {
        isCrowdListed = true
        try tellOfBob(withCat: false)
        for one in MemberStage.crowd { try tell(try MemberStage.data(of: one), linkedTo: [MemberStage.bob]) }
        note()
    }

    private mutating func tellOfBob(withCat isCatListed: Bool) throws {
        self.isCatListed = isCatListed
        let list =
            [MemberStage.local] + (isCatListed ? [MemberStage.cat] : [])
            + (isCrowdListed ? MemberStage.crowd : [])
        try tell(try MemberStage.data(of: MemberStage.bob), linkedTo: list)
    }

    private mutating func tell(_ data: ConnectionData, linkedTo list: [Endpoint]) throws {
        sequence += 1
        let entry = Members(origin: data.endpoint, sequence: sequence, members: list, blob: data.bytes)
        try membership.receive(entry, on: MemberStage.linkToBob, at: now)
    }

    private mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let deadline = membership.deadline, deadline <= end {
            now = deadline
            membership.advance(to: now)
            note()
        }
        now = end
        membership.advance(to: now)
        note()
    }

    /// Notes the actions about Cat; the others do not matter.
    private mutating func note() {
        for action in membership.takeActions() {
            switch action {
            case .connect(let data, let isFirst) where data.endpoint == MemberStage.cat:
                isSought = true
                actions.append(isFirst ? "connect" : "reconnect")
            case .withdraw(MemberStage.cat.uid):
                isSought = false
                actions.append("withdraw")
            case .connect, .withdraw, .hide, .tell, .dismiss, .leave: break
            }
        }
    }

    private static func endpoint(_ number: UInt64) -> Endpoint {
        Endpoint(uid: UID(high: 0, low: number), instance: 1)
    }

    private static func data(of endpoint: Endpoint, variant: Int = 0) throws -> ConnectionData {
        try MeshFixture.data(of: endpoint, variant: variant)
    }
}
