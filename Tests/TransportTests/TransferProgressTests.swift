import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 Progress", .inTurns)
struct TransferProgressTests {
    private let clock = Clock()

    @Test("the fraction never falls, and is 1 only after success")
    func fraction() {
        let meter = meter(100)
        #expect(meter.reading().progress.fractionCompleted == 0)
        meter.note(50)
        #expect(meter.reading().progress.fractionCompleted == 0.5)
        meter.note(20)
        #expect(meter.reading().progress.completedBytes == 50)
        meter.note(100)
        let almost = meter.reading()
        #expect(almost.progress.completedBytes == 100)
        #expect(almost.progress.fractionCompleted.map { $0 < 1 && $0 > 0.99 } == true)
        #expect(!almost.isFinal)
        meter.end(hasSucceeded: true)
        let end = meter.reading()
        #expect(end.progress.fractionCompleted == 1)
        #expect(end.progress.estimatedTimeRemaining == .zero)
        #expect(end.isFinal)
    }

    @Test("a transfer that failed never shows 1, whatever comes later")
    func failure() {
        let meter = meter(10)
        meter.note(10)
        meter.end(hasSucceeded: false)
        meter.end(hasSucceeded: true)
        meter.note(10)
        let (progress, isFinal) = meter.reading()
        #expect(progress.fractionCompleted.map { $0 < 1 } == true)
        #expect(isFinal)
    }

    @Test("an empty file goes from 0 to 1")
    func empty() {
        let meter = meter(0)
        #expect(meter.reading().progress.fractionCompleted == 0)
        meter.end(hasSucceeded: true)
        #expect(meter.reading().progress.fractionCompleted == 1)
    }

    @Test("without a total there is no fraction and no time left, until the end")
    func unknown() {
        let meter = meter(nil)
        meter.note(7)
        #expect(meter.reading().progress.fractionCompleted == nil)
        #expect(meter.reading().progress.estimatedTimeRemaining == nil)
        #expect(meter.reading().progress.totalBytes == nil)
        meter.end(hasSucceeded: true)
        #expect(meter.reading().progress.fractionCompleted == 1)
        #expect(meter.reading().progress.totalBytes == 7)
    }

    @Test("the rate covers the last seconds, the time left follows the rate, and time stops at the end")
    func rate() throws {
        let meter = meter(100_000)
        for step in 1...40 {
            clock.advance(.milliseconds(100))
            meter.note(UInt64(step * 1_000))
        }
        let steady = meter.reading().progress
        #expect((9_900...10_100).contains(steady.bytesPerSecond))
        let left = try #require(steady.estimatedTimeRemaining)
        #expect(left > .seconds(5.9) && left < .seconds(6.1))
        #expect(steady.elapsed == .seconds(4))
        // It stalls: the rate falls by the second, and the time left grows.
        clock.advance(.seconds(2))
        let stalled = meter.reading().progress
        #expect(stalled.bytesPerSecond < 0.5 * steady.bytesPerSecond && stalled.bytesPerSecond > 0)
        #expect(try #require(stalled.estimatedTimeRemaining) > left)
        meter.end(hasSucceeded: false)
        clock.advance(.seconds(60))
        #expect(meter.reading().progress.elapsed == .seconds(6))
    }

    @Test("a transfer without progress has no time left")
    func still() {
        let meter = meter(10)
        clock.advance(.seconds(1))
        #expect(meter.reading().progress.bytesPerSecond == 0)
        #expect(meter.reading().progress.estimatedTimeRemaining == nil)
    }

    @Test("the time counts from the beginning, not from the offer")
    func begin() {
        let meter = meter(10)
        clock.advance(.seconds(100))
        meter.begin()
        clock.advance(.seconds(2))
        #expect(meter.reading().progress.elapsed == .seconds(2))
    }

    @Test("several watchers see the state at once, the latest and the last; late ones only the last")
    func watchers() async {
        let meter = ProgressMeter(total: 1_000)
        let begun = Promise<Void>()
        let one = Task { await watch(meter, begun) }
        let other = Task { await watch(meter, Promise()) }
        await begun.value()
        // Far more often than any reader needs.
        for step in 1...1_000 { meter.note(UInt64(step)) }
        meter.end(hasSucceeded: true)
        for seen in [await one.value, await other.value, await watch(meter, Promise())] {
            #expect(seen.count <= 20)
            #expect(seen.last?.fractionCompleted == 1)
            #expect(seen.dropLast().allSatisfy { $0.fractionCompleted != 1 })
            #expect(seen.map(\.completedBytes) == seen.map(\.completedBytes).sorted())
        }
    }

    @Test("a cancelled watcher stops, and one of a stalled transfer still gets updates")
    func cancellation() async {
        let meter = ProgressMeter(total: 10)
        let begun = Promise<Void>()
        let watching = Task { await watch(meter, begun) }
        await begun.value()
        watching.cancel()
        #expect(await watching.value.last?.fractionCompleted == 0)
        var count = 0
        for await _ in TransferProgress.Updates(meter) {
            count += 1
            if count == 3 { break }
        }
        #expect(count == 3)
    }

    @concurrent
    private func watch(_ meter: ProgressMeter, _ begun: Promise<Void>) async -> [TransferProgress] {
        var seen: [TransferProgress] = []
        for await progress in TransferProgress.Updates(meter) {
            seen.append(progress)
            begun.send(())
        }
        return seen
    }

    private func meter(_ total: UInt64?) -> ProgressMeter {
        ProgressMeter(total: total, now: { [clock] in clock.now })
    }

    private final class Clock: Sendable {
        private let time = Locked(Moment(nanoseconds: 1_000_000_000_000))
        var now: Moment { time.withLock { $0 } }
        func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
    }
}
