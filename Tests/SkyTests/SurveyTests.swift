import TestSupport
import Testing

@testable import sky

@Suite("Sky: distribution of tiles", .computing)
struct SurveyTests {
    /// Returns a survey with the sites 0, which is home, to `others`.
    private func survey(tiles: Int, others: Int = 0, attempts: Int = 3) -> Survey<Int> {
        var survey = Survey(tiles: tiles, home: 0, attempts: attempts)
        for site in 1..<others + 1 { survey.join(site) }
        return survey
    }

    private func found(_ tile: Int) -> Survey<Int>.Outcome {
        .found(Findings(tile: tile, stars: [Star(x: tile, y: 1, light: 2)]))
    }

    private func all(_ survey: inout Survey<Int>) -> [Survey<Int>.Order] {
        var orders: [Survey<Int>.Order] = []
        while let order = survey.next() { orders.append(order) }
        return orders
    }

    @Test("each site has at most four tiles, and the one with the fewest gets the next")
    func spread() {
        var survey = survey(tiles: 20, others: 2)
        let orders = all(&survey)
        #expect(orders.map(\.site) == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
        #expect(orders.map(\.tile) == Array(0..<12))
        _ = survey.take(found(4), of: orders[4].number, after: .zero)
        let more = all(&survey)
        #expect(more.map(\.site) == [1])
    }

    @Test("a site that joins later gets tiles, and joining again changes nothing")
    func late() {
        var survey = survey(tiles: 9)
        let first = all(&survey)
        #expect(first.count == 4)
        survey.join(7)
        survey.join(7)
        let more = all(&survey)
        #expect(more.map(\.site) == [7, 7, 7, 7])
        #expect(survey.tallies.count == 2)
    }

    @Test("a tile that failed elsewhere is repeated at home, before all others")
    func retry() {
        var survey = survey(tiles: 20, others: 1)
        let orders = all(&survey)
        let note = survey.take(.failed("clouds"), of: orders[1].number, after: .seconds(1))
        #expect(note == .repeats("clouds"))
        let other = survey.next()
        #expect(other?.site == 1, "home has no room, and nobody else waits for that")
        _ = survey.take(found(orders[0].tile), of: orders[0].number, after: .zero)
        let again = survey.next()
        #expect(again?.tile == orders[1].tile)
        #expect(again?.site == 0)
        #expect(again?.isUrgent == true)
        #expect(again?.attempt == 2)
        #expect(survey.tallies[1].failed == 1)
        #expect(survey.tallies[1].spent == .seconds(1))
    }

    @Test("a tile that fails three times is given up, and the others continue")
    func givenUp() throws {
        var survey = survey(tiles: 2)
        var notes: [Survey<Int>.Note] = []
        while !survey.isOver {
            let next = survey.next()
            let order = try #require(next)
            let outcome = order.tile == 0 ? Survey<Int>.Outcome.failed("clouds") : found(1)
            notes.append(survey.take(outcome, of: order.number, after: .zero))
        }
        #expect(notes.count { $0 == .repeats("clouds") } == 2)
        #expect(notes.count { $0 == .gaveUp("clouds") } == 1)
        #expect(survey.givenUp == [0: "clouds"])
        #expect(survey.findings.keys.sorted() == [1])
    }

    @Test("results for another tile are a failure")
    func wrongTile() throws {
        var survey = survey(tiles: 2, others: 1)
        let orders = all(&survey)
        let note = survey.take(found(0), of: orders[1].number, after: .zero)
        #expect(note == .repeats("0 was scanned instead of 1"))
        #expect(survey.findings.isEmpty)
    }

    @Test("the tiles of a lost site are reassigned first, and its late answers do not count")
    func lost() {
        var survey = survey(tiles: 30, others: 2)
        let orders = all(&survey)
        let its = orders.filter { $0.site == 1 }
        let counts = [survey.lose(1), survey.lose(1)]
        #expect(counts == [4, 0])
        let note = survey.take(found(its[0].tile), of: its[0].number, after: .zero)
        #expect(note == .late)
        #expect(survey.findings.isEmpty)
        for order in orders where order.site != 1 {
            _ = survey.take(found(order.tile), of: order.number, after: .zero)
        }
        let next = all(&survey)
        #expect(next.prefix(4).map(\.tile) == its.map(\.tile))
        #expect(next.allSatisfy { $0.site != 1 && $0.attempt == 1 && !$0.isUrgent })
        #expect(survey.tallies[1].returned == 4)
    }

    @Test("a site that was lost and returns gets tiles again, and its earlier answers are late")
    func back() {
        var survey = survey(tiles: 12, others: 1)
        let its = all(&survey).filter { $0.site == 1 }
        survey.lose(1)
        survey.join(1)
        let again = all(&survey)
        #expect(again.map(\.tile) == its.map(\.tile))
        #expect(again.allSatisfy { $0.site == 1 })
        let notes = [its[0], again[0]].map { survey.take(found($0.tile), of: $0.number, after: .zero) }
        #expect(notes.first == .late)
        #expect(notes.last != .late)
        #expect(survey.tallies.count == 2)
    }

    @Test("a failed call for an expired order does not lose the site: it may have returned since")
    func lateLoss() {
        var survey = survey(tiles: 12, others: 1)
        let before = all(&survey).filter { $0.site == 1 }
        let first = [survey.loseSite(of: before[0]), survey.loseSite(of: before[1])]
        #expect(first == [4, nil])
        survey.join(1)
        let since = all(&survey).filter { $0.site == 1 }
        let late = survey.loseSite(of: before[2])
        #expect(late == nil)
        #expect(!survey.tallies[1].isLost && survey.tallies[1].inFlight.count == 4)
        let again = survey.loseSite(of: since[0])
        #expect(again == 4)
        #expect(survey.tallies[1].isLost)
    }

    @Test("home is never lost, and works alone when all others are lost")
    func alone() throws {
        var survey = survey(tiles: 12, others: 2)
        _ = all(&survey)
        survey.lose(0)
        survey.lose(1)
        survey.lose(2)
        let next = survey.next()
        #expect(next == nil, "home has four already")
        #expect(survey.tallies.map(\.isLost) == [false, true, true])
    }

    @Test("whatever fails, joins or is lost, every tile is counted once or given up", arguments: 0..<200)
    func chance(_ seed: Int) throws {
        var dice = Dice(state: UInt64(seed))
        var survey = Survey(tiles: 40, home: 0)
        var (open, gone): ([Survey<Int>.Order], [Survey<Int>.Order]) = ([], [])
        var counted: [Int: Int] = [:]
        var sites = 1
        var steps = 0
        while !survey.isOver {
            steps += 1
            try #require(steps < 10_000)
            open += all(&survey)
            for site in survey.tallies { #expect(site.inFlight.count <= 4) }
            switch dice.below(20) {
            case 0 where sites < 8:
                survey.join(sites)
                sites += 1
            case 1:
                let site = dice.below(sites)
                survey.lose(site)
                gone += open.filter { $0.site == site && site != 0 }
                open.removeAll { $0.site == site && site != 0 }
            case 2 where !gone.isEmpty:
                let order = gone.remove(at: dice.below(gone.count))
                let note = survey.take(found(order.tile), of: order.number, after: .zero)
                #expect(note == .late)
            case 3..<8:
                guard !open.isEmpty else { continue }
                _ = survey.take(
                    .failed("no"), of: open.remove(at: dice.below(open.count)).number, after: .zero)
            default:
                guard !open.isEmpty else { continue }
                let order = open.remove(at: dice.below(open.count))
                guard
                    case .counted(let findings) = survey.take(
                        found(order.tile), of: order.number, after: .zero)
                else {
                    Issue.record("an order that stands did not count")
                    return
                }
                counted[findings.tile, default: 0] += 1
            }
        }
        let next = survey.next()
        #expect(open.isEmpty && next == nil)
        #expect(counted.values.allSatisfy { $0 == 1 })
        #expect(Set(counted.keys) == Set(survey.findings.keys))
        #expect(Set(counted.keys).isDisjoint(with: survey.givenUp.keys))
        #expect(survey.tallies.reduce(0) { $0 + $1.counted } == counted.count)
    }

    @Test("the fingerprint does not depend on who counted, and changes with each star")
    func fingerprint() {
        var (one, two, three) = (survey(tiles: 2), survey(tiles: 2, others: 1), survey(tiles: 2))
        for order in all(&one) { _ = one.take(found(order.tile), of: order.number, after: .zero) }
        for order in all(&two).reversed() { _ = two.take(found(order.tile), of: order.number, after: .zero) }
        for order in all(&three) {
            let stars = [Star(x: order.tile, y: 1, light: 3)]
            _ = three.take(.found(Findings(tile: order.tile, stars: stars)), of: order.number, after: .zero)
        }
        #expect(one.fingerprint == two.fingerprint)
        #expect(one.fingerprint != three.fingerprint)
        #expect(one.stars == 2)
    }
}
