import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@Suite("6 The numbers of connections", .computing)
struct ConnectionNumberTests {
    @Test("after 2^32 connections the numbers begin again")
    func wrapping() throws {
        var stage = try Stage(weAreLower: false)
        let (we, now) = (stage.we, stage.now)
        stage.machine = LinkEstablishment(we, seed: 4, after: .max - 1)
        #expect((0..<3).map { _ in stage.machine.accepted(at: now).rawValue } == [.max, 0, 1])
        let other = LinkEstablishment(we, seed: 4, after: .max)
        #expect(other.lastConnection == .max)
    }

    @Test("the number of a link is not used for another connection")
    func links() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        let link = try stage.candidate()
        #expect(stage.give(link.id, .select).links == [link.id])
        var table = Set([link.id])
        // A table that is one short of the link's number.
        stage.machine.renumber(after: link.id.rawValue &- 1)
        for _ in 0..<3 { #expect(table.insert(stage.machine.accepted(at: stage.now)).inserted) }
    }
}
