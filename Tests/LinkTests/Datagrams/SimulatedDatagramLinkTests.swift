import MultipeerLink
import TestSupport
import Testing

@Suite("10.4 Two paths on a simulated network", .computing)
struct SimulatedDatagramLinkTests {
    private typealias NetworkConditions = SimulatedDatagramLink.NetworkConditions

    /// What is true at every moment: nothing comes twice, nothing comes that was not sent to this end.
    private func expectSound(_ sea: SimulatedDatagramLink, _ seed: UInt64) {
        for index in 0...1 {
            let received = sea.ends[index].received
            #expect(Set(received).count == received.count, "seed \(seed)")
            #expect(sea.sent[1 - index].isSuperset(of: received), "seed \(seed)")
        }
    }

    @Test("a path between two ends is up within a second [dgram.path]", arguments: [true, false])
    func calm(_ isProtected: Bool) {
        for seed in 0..<UInt64(30) {
            var sea = SimulatedDatagramLink(
                isProtected: isProtected, weather: NetworkConditions(), seed: seed)
            sea.run(for: .seconds(1))
            #expect(sea.isCalm, "seed \(seed)")
            sea.run(for: .seconds(60))
            #expect(sea.isCalm && sea.ends.allSatisfy { $0.restarts <= 2 }, "seed \(seed)")
            expectSound(sea, seed)
        }
    }

    @Test(
        "a network that loses, duplicates and delays delivers nothing twice, and is used again when it is good [dgram.restart]",
        arguments: [true, false])
    func rough(_ isProtected: Bool) {
        for seed in 0..<UInt64(20) {
            var random = Seeded(seed)
            let weather = NetworkConditions(
                lost: Int.random(in: 0...50, using: &random), doubled: Int.random(in: 0...50, using: &random),
                delayed: Int.random(in: 0...50, using: &random))
            var sea = SimulatedDatagramLink(isProtected: isProtected, weather: weather, seed: seed)
            sea.run(for: .seconds(60))
            expectSound(sea, seed)
            sea.weather = NetworkConditions()
            sea.run(for: .seconds(60))
            #expect(sea.isCalm, "seed \(seed)")
            expectSound(sea, seed)
        }
    }

    @Test("at 30 % loss each way nearly all paths are up within 8 s [dgram.retransmit]")
    func loss() {
        let up = (0..<UInt64(200)).count { seed in
            var sea = SimulatedDatagramLink(
                isProtected: true, weather: NetworkConditions(lost: 30), seed: seed)
            sea.run(for: .seconds(8))
            return sea.ends.allSatisfy(\.isUp)
        }
        #expect(up >= 190)
    }

    @Test(
        "restarts of either end, sequential or crossing, end with both ends on one key [dgram.restart]",
        arguments: [true, false])
    func restarts(_ isProtected: Bool) {
        for seed in 0..<UInt64(60) {
            var random = Seeded(seed)
            var sea = SimulatedDatagramLink(
                isProtected: isProtected, weather: NetworkConditions(lost: 10, delayed: 20), seed: seed)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                sea.run(for: .milliseconds(Int64.random(in: 0...300, using: &random)))
                switch Int.random(in: 0..<6, using: &random) {
                case 0: sea.strike(0)
                case 1: sea.strike(1)
                case 2: sea.renew(0)
                case 3: sea.renew(1)
                case 4:
                    sea.strike(0)
                    sea.strike(1)
                default:
                    sea.renew(0)
                    sea.renew(1)
                }
            }
            sea.weather = NetworkConditions()
            sea.run(for: .seconds(20))
            #expect(sea.isCalm, "seed \(seed)")
            expectSound(sea, seed)
        }
    }

    @Test(
        "when UDP is silent for a time, messages use the link after 2 s, and the path again within 5 s of its end [dgram.silence] [dgram.fallback]",
        arguments: [true, false], [5, 16, 40])
    func blackout(_ isProtected: Bool, _ seconds: Int) {
        for seed in 0..<UInt64(8) {
            var sea = SimulatedDatagramLink(
                isProtected: isProtected, weather: NetworkConditions(), seed: seed)
            sea.run(for: .seconds(3))
            sea.weather = NetworkConditions(lost: 100)
            // The first message that vanishes is sent after 500 ms.
            sea.run(for: .milliseconds(500 + 2_000))
            let byPath = sea.ends.map(\.byPath)
            #expect(sea.ends.allSatisfy { !$0.isUp }, "seed \(seed)")
            sea.run(for: .milliseconds(seconds * 1_000 - 2_500))
            #expect(sea.ends.map(\.byPath) == byPath)
            sea.weather = NetworkConditions()
            sea.run(for: .seconds(5))
            #expect(sea.isCalm, "seed \(seed)")
            expectSound(sea, seed)
        }
    }

    @Test(
        "of a path that one end gives up the other hears at once, and sends nothing into the void [dgram.rest]"
    )
    func givenUp() {
        for seed in 0..<UInt64(20) {
            var sea = SimulatedDatagramLink(
                isProtected: true, weather: NetworkConditions(), seed: seed)
            sea.run(for: .seconds(3))
            sea.strike(Int(seed % 2))
            sea.run(for: .milliseconds(100))
            #expect(sea.ends.allSatisfy { !$0.isUp }, "seed \(seed)")
            sea.run(for: .seconds(3))
            #expect(sea.isCalm, "seed \(seed)")
        }
    }

    @Test(
        "at 30 % loss each way the path is up for most of the time, and loses no more than the network does [dgram.silence]"
    )
    func thin() {
        var (byPath, byLink, received) = (0, 0, 0)
        for seed in 0..<UInt64(20) {
            var sea = SimulatedDatagramLink(
                isProtected: true, weather: NetworkConditions(), seed: seed)
            sea.run(for: .seconds(3))
            sea.weather = NetworkConditions(lost: 30)
            let before = (sea.ends.map(\.byPath), sea.ends.map(\.byLink), sea.ends.map(\.received.count))
            sea.run(for: .seconds(120))
            for index in 0...1 {
                byPath += sea.ends[index].byPath - before.0[index]
                byLink += sea.ends[index].byLink - before.1[index]
                received += sea.ends[index].received.count - before.2[index]
            }
        }
        #expect(byLink * 20 < byPath)
        #expect(received * 100 > byPath * 65)
    }

    @Test("without UDP the path costs two offers every 40 s and nothing more [dgram.fallback]")
    func noWire() {
        var sea = SimulatedDatagramLink(isProtected: true, weather: NetworkConditions(lost: 100), seed: 1)
        sea.run(for: .seconds(400))
        #expect(sea.ends.allSatisfy { $0.byPath == 0 && $0.byLink > 700 })
        #expect(sea.ends.allSatisfy { (12...15).contains($0.restarts) })
    }
}
