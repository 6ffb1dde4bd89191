import MultipeerSecurity
import TestSupport
import Testing

@Suite("10.4 DTLS over a lossy network", .computing)
struct DatagramLossTests {
    @Test(
        "the handshake completes in nearly all runs, whatever is lost [dgram.retransmit]",
        arguments: [(10, 200, 2_000), (30, 195, 8_000), (50, 180, 8_000)])
    func loss(_ percent: Int, _ least: Int, _ end: Int) throws {
        var done = 0
        var times: [Int] = []
        for seed in 0..<UInt64(200) {
            var stage = try DatagramStage(DatagramConditions(lost: percent), seed: seed)
            if try stage.run(until: end) {
                done += 1
                times.append(stage.now)
            }
            #expect(stage.isBroken == false)
        }
        times.sort()

        #expect(done >= least)
    }

    @Test("datagrams that arrive twice or out of order harm no handshake [dgram.keep-reading]")
    func disorder() throws {
        for seed in 0..<UInt64(200) {
            var stage = try DatagramStage(DatagramConditions(lost: 10, doubled: 50, delayed: 50), seed: seed)
            #expect(try stage.run(until: 10_000))
            try stage.settle()
            try stage.pair.client.write([1])
            try stage.pair.server.write([2])
            stage.pair.exchange()
            #expect(stage.pair.server.takeReceived() == [[1]] && stage.pair.client.takeReceived() == [[2]])
            #expect(stage.isBroken == false)
        }
    }
}
