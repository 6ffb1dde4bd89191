import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: streams on run loops", .inTurns)
struct StreamScheduleTests {
    @Test("events come in the mode that the stream is scheduled in", arguments: [true, false])
    func modes(_ isCommon: Bool) async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let reader = RecordingStreamDelegate()
        let own = RunLoop.Mode("own")
        if isCommon {
            let held = UncheckedSendable(input)
            BackgroundThread.loop(.default, until: { reader.isOver }) { loop in
                held.value.delegate = reader
                held.value.schedule(in: loop, forMode: .common)
                held.value.open()
            }
        } else {
            reader.run(input, in: own)
        }
        RecordingStreamDelegate(writing: [1, 2, 3]).run(output)
        #expect(try await reader.wait().bytes == [1, 2, 3])
        exchange.end()
    }

    @Test("a loop in another mode gets no events")
    func otherMode() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let reader = RecordingStreamDelegate()
        let held = UncheckedSendable(input)
        output.open()
        #expect(output.write([1]) == 1)
        let hasRun = try await BackgroundThread.value { () -> Bool in
            held.value.delegate = reader
            held.value.schedule(in: .current, forMode: RunLoop.Mode("own"))
            held.value.open()
            _ = held.value.bytes(1)
            // Nothing is scheduled in this mode: it returns at once, and in the other there is something.
            if RunLoop.current.run(mode: .default, before: .distantFuture) { return false }
            if !reader.report.events.isEmpty { return false }
            return RunLoop.current.run(mode: RunLoop.Mode("own"), before: .distantFuture)
        }
        #expect(hasRun)
        #expect(reader.report.events == [Stream.Event.openCompleted.rawValue])
        exchange.end()
    }

    @Test("a stream that is moved to another loop continues there")
    func moved() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let (reader, moved) = (RecordingStreamDelegate(), Promise<Void>())
        reader.onEvent { stream, event in
            if event != .hasBytesAvailable { return }
            _ = (stream.value as? InputStream)?.bytes(1)
            stream.value.remove(from: .current, forMode: .default)
            stream.value.remove(from: .current, forMode: .default)
            moved.send(())
        }
        let held = UncheckedSendable(input)
        BackgroundThread.loop(until: { moved.isSent }) { loop in
            held.value.delegate = reader
            held.value.schedule(in: loop, forMode: .default)
            held.value.schedule(in: loop, forMode: .default)
            held.value.open()
        }
        output.open()
        #expect(output.write([1, 2]) == 2)
        try await soon { await moved.value(onCancel: { moved.send(()) }) }
        let next = RecordingStreamDelegate()
        #expect(output.write([3]) == 1)
        output.close()
        next.run(input)
        #expect(try await next.wait().bytes == [2, 3])
        #expect(reader.report.events.last == Stream.Event.hasBytesAvailable.rawValue)
        exchange.end()
    }

    @Test(
        "a delegate that is removed, or closes the stream, in a call gets no more events",
        arguments: [true, false])
    func silenced(_ closes: Bool) async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let reader = RecordingStreamDelegate()
        let heard = Promise<Void>()
        reader.onEvent { stream, _ in
            if closes { stream.value.close() } else { stream.value.delegate = nil }
            heard.send(())
        }
        reader.run(input)
        output.open()
        try await soon { await heard.value(onCancel: { heard.send(()) }) }
        for round in 0..<3 {
            _ = output.write([1])
            try await exchange.talk("round \(round)")
        }
        #expect(reader.report.events == [Stream.Event.openCompleted.rawValue])
        reader.finish()
        exchange.end()
    }

    @Test("a late delegate gets the pending events, and one that reads a little gets further ones")
    func lateDelegate() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        output.open()
        #expect(output.write([1, 2, 3]) == 3)
        output.close()
        let held = UncheckedSendable(input)
        let reader = RecordingStreamDelegate(step: 1)
        let isReady = Promise<Void>()
        BackgroundThread.loop(until: { reader.isOver }) { loop in
            held.value.open()
            held.value.schedule(in: loop, forMode: .default)
            isReady.send(())
        }
        await isReady.value()
        input.delegate = reader
        let report = try await reader.wait()
        #expect(report.bytes == [1, 2, 3])
        let (open, bytes, end) = (
            Stream.Event.openCompleted.rawValue, Stream.Event.hasBytesAvailable.rawValue,
            Stream.Event.endEncountered.rawValue
        )
        #expect(report.events == [open, bytes, bytes, bytes, end])
        exchange.end()
    }

    @Test(
        "a delegate that runs the loop in a call gets the other events there, including earlier ones",
        arguments: [false, true])
    func nested(isEarly: Bool) async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        output.open()
        #expect(output.write([1, 2]) == 2)
        let reader = RecordingStreamDelegate()
        reader.onEvent { stream, event in
            switch event {
            case .openCompleted:
                while !reader.isOver, RunLoop.current.run(mode: .default, before: .distantFuture) {}
            case .hasBytesAvailable:
                _ = (stream.value as? InputStream)?.bytes(10)
                reader.finish()
            default: break
            }
        }
        let held = UncheckedSendable(input)
        BackgroundThread.loop(until: { reader.isOver }) { loop in
            held.value.delegate = reader
            held.value.schedule(in: loop, forMode: .default)
            held.value.open()
            // After this both bytes have arrived, and the loop has not run yet.
            if isEarly { #expect(held.value.bytes(1) == [1]) }
        }
        #expect(
            try await reader.wait().events == [
                Stream.Event.openCompleted.rawValue, Stream.Event.hasBytesAvailable.rawValue,
            ])
        // Kept until here: a stream without a reference is given up, with what was written.
        output.close()
        exchange.end()
    }

    @Test("a delegate that runs the loop in a call gets the events of other streams there")
    func nestedOthers() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let (first, second) = (RecordingStreamDelegate(), RecordingStreamDelegate())
        let isNested = Locked(false)
        first.onEvent { _, event in
            guard event == .openCompleted else { return }
            isNested.withLock { $0 = true }
            while !second.isOver, RunLoop.current.run(mode: .default, before: .distantFuture) {}
            isNested.withLock { $0 = false }
            first.finish()
        }
        second.onEvent { _, event in
            guard event == .openCompleted else { return }
            #expect(isNested.withLock { $0 })
            second.finish()
        }
        let (held, other) = (UncheckedSendable(input), UncheckedSendable(output))
        BackgroundThread.loop(until: { first.isOver }) { loop in
            for (stream, end) in [(held.value as Foundation.Stream, first), (other.value, second)] {
                stream.delegate = end
                stream.schedule(in: loop, forMode: .default)
                stream.open()
            }
        }
        _ = try await first.wait()
        #expect(second.isOver)
        exchange.end()
    }
}
