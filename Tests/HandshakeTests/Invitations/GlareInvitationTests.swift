import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@Suite("12 Crossing invitations", .computing)
struct GlareInvitationTests {
    @Test(
        "two peers that invite each other have one outcome each, and both ends agree on it [invite.glare] [invite.once] [invite.consent]",
        arguments: 0..<20)
    func crossing(_ block: Int) throws {
        for seed in UInt64(block * 100)..<UInt64(block * 100 + Sanitizer.fewer(100)) {
            let crossing = try Crossing(seed)
            #expect(crossing.run(), "seed \(seed) does not come to rest")
            for index in 0..<2 { try judge(crossing, index, seed) }
        }
    }

    private func judge(_ crossing: Crossing, _ index: Int, _ seed: UInt64) throws {
        let (own, other) = (crossing.sides[index], crossing.sides[1 - index])
        #expect(own.outcomes.count == 1, "seed \(seed)")
        #expect(own.asked.allSatisfy { own.endings[$0]?.count == 1 }, "seed \(seed)")
        #expect(own.invitee.deadline == nil, "seed \(seed)")
        #expect(!own.toldTooEarly, "seed \(seed)")
        // The question that this side's invitation became at the other.
        let endings = other.asked.compactMap { other.endings[$0]?.first }
        #expect(endings.count <= 1, "seed \(seed): asked twice")
        let outcome = try #require(own.outcomes.first)
        switch (outcome, endings.first) {
        case (.success(let data), .completed(let theirs)?):
            #expect(data == other.data && theirs == own.data, "seed \(seed)")
        case (.failure(.declined), .refused(.declined)?): break
        // The end that times out first reports it; an answer may cross that.
        case (.failure(.timedOut), .failed(.timedOut)?), (.failure(.timedOut), .refused?),
            (.failure(.timedOut), nil):
            break
        case (.failure(.cancelled), .failed(.withdrawn)?), (.failure(.cancelled), .refused?),
            (.failure(.cancelled), nil):
            #expect(own.cancels != nil, "seed \(seed)")
        default: Issue.record("seed \(seed): \(outcome) here, \(endings) there")
        }
        if other.manner == .accepts, own.cancels == nil {
            #expect(outcome == .success(other.data), "seed \(seed)")
        }
        if other.manner == .declines, own.cancels == nil {
            #expect(outcome == .failure(.declined), "seed \(seed)")
        }
    }

    @Test("every kind of outcome occurs in two thousand crossings")
    func variety() throws {
        var counts: [String: Int] = [:]
        for seed in 0..<UInt64(400) {
            let crossing = try Crossing(seed)
            _ = crossing.run()
            let ends = crossing.sides.map { side in
                switch side.outcomes.first {
                case .success?: "agreed"
                case .failure(let fault)?: "\(fault)"
                case nil: "none"
                }
            }
            counts[ends.sorted().joined(separator: "+"), default: 0] += 1
        }
        for pair in ["agreed+agreed", "agreed+declined", "agreed+cancelled", "agreed+timedOut"] {
            #expect(counts[pair] ?? 0 > 0, "\(counts)")
        }
    }
}
