import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: how streams end", .inTurns)
struct StreamEndTests {
    @Test("before a stream is opened, and after it is closed, nothing is read or written")
    func states() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        #expect(input.streamStatus == .notOpen && output.streamStatus == .notOpen)
        #expect(input.bytes(10) == nil && output.write([1]) == -1)
        #expect(!input.hasBytesAvailable && !output.hasSpaceAvailable)
        #expect(input.streamError == nil && output.streamError == nil)
        #expect(input.delegate == nil && output.delegate == nil)
        // As with Foundation's own: closing what is not open does nothing.
        input.close()
        output.close()
        #expect(input.streamStatus == .notOpen && output.streamStatus == .notOpen)
        output.open()
        input.open()
        #expect(input.streamStatus == .open && output.streamStatus == .open)
        #expect(output.hasSpaceAvailable && output.write([1, 2, 3]) == 3 && output.write([]) == 0)
        output.close()
        #expect(output.streamStatus == .closed && !output.hasSpaceAvailable && output.write([1]) == -1)
        let into = UncheckedSendable(input)
        #expect(try await BackgroundThread.value { into.value.bytes(2) } == [1, 2])
        #expect(input.bytes(0) == [] && input.hasBytesAvailable && input.bytes(10) == [3])
        #expect(try await BackgroundThread.value { into.value.bytes(2) } == [])
        #expect(input.streamStatus == .atEnd)
        input.close()
        #expect(input.streamStatus == .closed && input.bytes(10) == nil)
        for stream in [input, output] {
            stream.open()
            stream.close()
            #expect(stream.streamStatus == .closed && stream.streamError == nil)
            #expect(stream.property(forKey: .fileCurrentOffsetKey) == nil)
            #expect(!stream.setProperty(NSNumber(value: 1), forKey: .fileCurrentOffsetKey))
        }
        exchange.end()
    }

    @Test(
        "releasing a stream from a peer, opened or not, is an error for the writer",
        arguments: [true, false])
    func releasedInput(_ opens: Bool) async throws {
        let exchange = try await ConnectedPair()
        let output = try exchange.startStream()
        do {
            let input = try await exchange.bob.recorder.stream("stream")
            if opens { input.open() }
            exchange.bob.recorder.log.clear()
        }
        let writer = RecordingStreamDelegate()
        writer.onEvent { stream, event in
            if event != .errorOccurred { return }
            #expect((stream.value.streamError as? MCError)?.code == .cancelled)
            #expect(stream.value.streamStatus == .error)
            stream.value.close()
            #expect(stream.value.streamStatus == .error)
            writer.finish()
        }
        writer.run(output)
        #expect(try await writer.wait().events.last == Stream.Event.errorOccurred.rawValue)
        #expect(output.write([1]) == -1 && !output.hasSpaceAvailable)
        exchange.end()
    }

    @Test("disconnecting is one error at both ends of each stream, and ends blocked calls")
    func disconnect() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream("watched")
        let (writer, reader) = (RecordingStreamDelegate(), RecordingStreamDelegate())
        writer.onEvent { _, event in if event == .errorOccurred { writer.finish() } }
        writer.run(output)
        reader.run(input)
        let (blockedOutput, blockedInput) = try await exchange.stream("blocked")
        let into = UncheckedSendable(blockedInput)
        async let read = BackgroundThread.value {
            into.value.open()
            return into.value.bytes(1)
        }
        let out = UncheckedSendable(blockedOutput)
        async let written = BackgroundThread.value {
            out.value.open()
            return out.value.write([1]) == 1
        }
        #expect(try await written)
        #expect(try await read == [1])
        async let blocked = BackgroundThread.value { into.value.bytes(1) }
        try await exchange.talk("everything is open")
        exchange.ann.session.disconnect()
        #expect(try await blocked == nil)
        #expect((blockedInput.streamError as? MCError)?.code == .notConnected)
        for end in [writer, reader] {
            let report = try await end.wait()
            #expect(report.events.filter { $0 == Stream.Event.errorOccurred.rawValue }.count == 1)
        }
        #expect(reader.report.error?.code == .notConnected)
        exchange.end()
    }

    @Test(
        "a writer that waits for room is woken when the stream is closed, or the peer leaves",
        arguments: [true, false])
    func blockedWriter(_ closes: Bool) async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        output.open()
        let out = UncheckedSendable(output)
        let begun = Promise<Void>()
        async let written = BackgroundThread.value {
            begun.send(())
            return out.value.writeAll([UInt8](repeating: 1, count: 4_000_000))
        }
        await begun.value()
        try await exchange.talk("the writer is at it")
        if closes { output.close() } else { exchange.bob.session.disconnect() }
        #expect(try await written == false)
        withExtendedLifetime(input) {}
        exchange.end()
    }

    @Test("data written before close arrives, even when the stream is released at once")
    func closeAtOnce() async throws {
        let exchange = try await ConnectedPair()
        do {
            let output = try exchange.startStream()
            output.open()
            #expect(output.write([UInt8](repeating: 9, count: 65_536)) == 65_536)
            output.close()
        }
        let input = UncheckedSendable(try await exchange.bob.recorder.stream("stream"))
        let bytes = try await BackgroundThread.value {
            input.value.open()
            return input.value.allBytes()
        }
        #expect(bytes == [UInt8](repeating: 9, count: 65_536))
        exchange.end()
    }
}
