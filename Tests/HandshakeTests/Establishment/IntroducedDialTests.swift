import MultipeerCore
@testable import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("11.6 Dials to members that were never met", .computing)
struct IntroducedDialTests {
    private let member = UID(high: 7, low: 7)

    private func stage(_ count: UInt8 = 16) throws -> Stage {
        try Stage(weAreLower: true, theirCandidates: try (1...count).map { try Stage.address($0) })
    }

    /// Lets every dial fail at once for this long, and returns the dials.
    private func dials(
        _ stage: inout Stage, for duration: Duration, introducer: UID?, failure: ConnectionFailure
    ) throws -> [Candidate] {
        let (data, now) = (stage.theirs, stage.now)
        #expect(try stage.machine.connect(with: data, zones: [], introducer: introducer, at: now))
        var dialled: [Candidate] = []
        var actions = stage.machine.takeActions()
        while true {
            for dial in actions.dials {
                dialled.append(dial.candidate)
                stage.machine.lost(dial.id, failure, at: stage.now)
            }
            actions = stage.machine.takeActions()
            if !actions.isEmpty { continue }
            guard let next = stage.machine.deadline, next < now + duration else { return dialled }
            stage.now = max(stage.now, next)
            stage.machine.advance(to: stage.now)
            actions = stage.machine.takeActions()
        }
    }

    @Test("a member causes 24 dials at once, and one a second after that [mesh.introduced]")
    func rate() throws {
        var stage = try stage()
        let introduced = try dials(&stage, for: .seconds(20), introducer: member, failure: .lost)
        #expect((40...44).contains(introduced.count), "\(introduced.count)")
        // Those that the application requests are not limited.
        var other = try self.stage()
        #expect(try dials(&other, for: .seconds(20), introducer: nil, failure: .lost).count > 60)
    }

    @Test("an address that did not answer is dialled again after 30 s, and then after 60 s [mesh.introduced]")
    func silent() throws {
        var stage = try stage(2)
        for (seconds, count) in [(29, 2), (31, 2), (29, 0), (29, 2), (91, 0), (12, 2)] {
            let start = stage.now
            let found = try dials(
                &stage, for: .seconds(seconds), introducer: member, failure: .unreachable("refused"))
            #expect(found.count == count, "after \(start)")
            stage.machine.cancel(stage.theirs.peer.uid, at: stage.now)
            _ = stage.machine.takeActions()
            stage.now = start + .seconds(seconds)
        }
    }

    @Test("of many members with the same address one is dialled there at a time [mesh.introduced]")
    func shared() throws {
        var stage = try stage(1)
        let address = try Stage.address(1)
        for number in 10..<20 as Range<UInt64> {
            let other = try Stage.local("other", high: number, instance: 9, .optional)
            let data = try Stage.issue(other, for: nil, [address], &stage.random, at: stage.now)
            _ = try stage.machine.connectionData(
                for: other.peer.uid, candidates: [address], flags: [], token: stage.random.bytes(32),
                at: stage.now)
            #expect(try stage.machine.connect(with: data, zones: [], introducer: member, at: stage.now))
        }
        var count = stage.machine.takeActions().dials.count
        let end = stage.now + .seconds(20)
        while let next = stage.machine.deadline, next < end {
            stage.now = max(stage.now, next)
            stage.machine.advance(to: stage.now)
            count += stage.machine.takeActions().dials.count
        }
        // The first gets no answer for 5 s, and then nobody dials the address for 30 s.
        #expect(count == 1)
    }

    @Test("an address at which a peer once answered has no pause, as after a restart [mesh.introduced]")
    func answered() throws {
        var stage = try stage(1)
        let id = try #require(try stage.connect().dials.first).id
        stage.machine.secured(id, stage.channel, nonce: [UInt8](repeating: 2, count: 32), at: stage.now)
        _ = stage.machine.takeActions()
        stage.give(id, stage.hello())
        #expect(stage.met == [stage.theirs.endpoint])
        stage.machine.cancel(stage.theirs.peer.uid, at: stage.now)
        _ = stage.machine.takeActions()
        let found = try dials(
            &stage, for: .seconds(29), introducer: member, failure: .unreachable("refused"))
        #expect(found.count > 5, "\(found.count)")
    }

    @Test("of more than 512 addresses those that are not paused are forgotten [mesh.introduced]")
    func remembered() throws {
        var dials = IntroducedDials()
        let now = Moment(nanoseconds: 1_000_000_000_000)
        let addresses = try (0..<514 as Range<UInt16>).map {
            try #require(Candidate(address: [10, 0, 0, 1], port: 1_000 + $0))
        }
        dials.answered(addresses[0], at: now)
        for address in addresses[1...512] { dials.failed(address, at: now) }
        #expect(addresses[1...512].allSatisfy { !dials.mayDial($0, at: now) })
        dials.failed(addresses[0], at: now)
        // One of them is forgotten, and which one decide their ports.
        #expect(addresses[...512].count { dials.mayDial($0, at: now) } == 1)
        dials.failed(addresses[513], at: now + .seconds(31))
        #expect(!dials.mayDial(addresses[513], at: now + .seconds(31)))
        #expect(dials.pauseEnd(of: addresses[2]) == nil)
    }

    @Test("of addresses that are equally old the first is forgotten, in every run alike [mesh.introduced]")
    func ties() throws {
        var dials = IntroducedDials()
        let now = Moment(nanoseconds: 1_000_000_000_000)
        let addresses = try (0..<515 as Range<Int>).map {
            try #require(Candidate(address: [10, 0, UInt8($0 >> 8), UInt8($0 & 255)], port: 5_000))
        }
        for address in addresses.reversed() { dials.failed(address, at: now) }
        // What came last made room for itself, as it is the first in the order.
        #expect(addresses.indices.filter { dials.pauseEnd(of: addresses[$0]) == nil } == [0, 1, 2])
    }

    @Test("a peer that was met is dialled without that limit [mesh.introduced]")
    func met() throws {
        var stage = try stage(1)
        let (data, now) = (stage.theirs, stage.now)
        #expect(try stage.machine.connect(with: data, zones: [], introducer: member, at: now))
        _ = stage.machine.takeActions()
        #expect(stage.machine[data.peer.uid]?.introducer == member)
        _ = try stage.greet()
        #expect(stage.machine[data.peer.uid]?.introducer == nil)
        #expect(stage.met == [data.endpoint])
    }

    @Test("all members together cause 48 dials at once, and 2 a second after that [mesh.introduced]")
    func total() {
        var dials = IntroducedDials()
        let start = Moment(nanoseconds: 1_000_000_000_000)
        var count = 0
        for millisecond in 0..<20_000 {
            let now = start + .milliseconds(millisecond)
            for number in 0..<8 as Range<UInt64> {
                let member = UID(high: 1, low: number)
                guard dials.next(by: member, at: now) == now else { continue }
                dials.count(by: member, at: now)
                count += 1
            }
        }
        #expect((86...88).contains(count), "\(count)")
    }
}
