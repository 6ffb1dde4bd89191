import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: how long streams live", .inTurns)
struct StreamLifetimeTests {
    @Test("open streams that are scheduled and not referenced carry every byte, and then the end")
    func unreferenced() async throws {
        let exchange = try await ConnectedPair()
        let bytes = [UInt8](repeating: 5, count: 300_000)
        let (writer, reader) = (RecordingStreamDelegate(writing: bytes), RecordingStreamDelegate())
        let ends = try await unreferencedStreams(of: exchange, writer, reader)
        _ = try await writer.wait()
        let report = try await reader.wait()
        #expect(report.bytes == bytes && report.error == nil)
        #expect(report.events.last == Stream.Event.endEncountered.rawValue)
        try await ends.areGone()
        exchange.end()
    }

    @Test(
        "a scheduled stream that is not referenced ends when it is closed, removed from its last loop, or over",
        arguments: StreamLifetime.allCases)
    func lifetimes(_ lifetime: StreamLifetime) async throws {
        let exchange = try await ConnectedPair()
        let (writer, reader) = (RecordingStreamDelegate(), RecordingStreamDelegate())
        let opened = Locked<[UncheckedSendable<Foundation.Stream>]>([])
        for delegate in [writer, reader] {
            delegate.onEvent { stream, event in
                switch (lifetime, event) {
                case (.closed, .openCompleted): stream.value.close()
                case (.removed, .openCompleted):
                    stream.value.remove(from: .current, forMode: .default)
                    #expect(stream.value.streamStatus == .open)
                    // Neither is over before the other one is told that it is open.
                    let both = opened.withLock { opened in
                        opened.append(stream)
                        guard opened.count == 2 else { return [UncheckedSendable<Foundation.Stream>]() }
                        defer { opened = [] }
                        return opened
                    }
                    for one in both { one.value.remove(from: .current, forMode: RunLoop.Mode("other")) }
                case (.lost, .errorOccurred): delegate.finish()
                default: break
                }
            }
        }
        let ends = try await unreferencedStreams(of: exchange, writer, reader)
        if lifetime == .lost {
            try await exchange.talk("both ends are open")
            #expect(!ends.hasGone)
            exchange.ann.session.disconnect()
            _ = try await (writer.wait(), reader.wait())
        }
        try await ends.areGone()
        exchange.end()
    }

    @Test("a stream that has ended is not kept for a delegate that is gone")
    func withoutDelegate() async throws {
        let exchange = try await ConnectedPair()
        let ends: WeakStreams
        do {
            let (writer, reader) = (RecordingStreamDelegate(), RecordingStreamDelegate())
            for delegate in [writer, reader] { delegate.onEvent { _, _ in } }
            ends = try await unreferencedStreams(of: exchange, writer, reader)
            try await exchange.talk("both ends are open")
        }
        #expect(!ends.hasGone)
        exchange.ann.session.disconnect()
        try await ends.areGone()
        exchange.end()
    }

    @Test("releasing an open stream to a peer closes it: what was written arrives, and then the end")
    func releasedOutput() async throws {
        let exchange = try await ConnectedPair()
        do {
            let output = try exchange.startStream()
            output.open()
            #expect(output.write([1, 2, 3]) == 3)
        }
        let input = UncheckedSendable(try await exchange.bob.recorder.stream("stream"))
        let bytes = try await BackgroundThread.value {
            input.value.open()
            return input.value.allBytes()
        }
        #expect(bytes == [1, 2, 3])
        exchange.end()
    }

    @Test("releasing a stream to a peer that was never opened is an error for the reader")
    func releasedUnopened() async throws {
        let exchange = try await ConnectedPair()
        let reader = RecordingStreamDelegate()
        do {
            let (output, input) = try await exchange.stream()
            output.schedule(in: StreamThread.shared.runLoop, forMode: .default)
            reader.run(input)
        }
        let report = try await reader.wait()
        #expect(report.error?.code == .cancelled)
        #expect(report.events.last == Stream.Event.errorOccurred.rawValue)
        exchange.end()
    }

    /// Opens a stream on the thread for streams, in two modes, and returns no reference to its ends.
    private func unreferencedStreams(
        of exchange: ConnectedPair, _ writer: RecordingStreamDelegate, _ reader: RecordingStreamDelegate
    ) async throws -> WeakStreams {
        let (output, input) = try await exchange.stream()
        exchange.bob.recorder.log.clear()
        for (stream, delegate) in [(output as Foundation.Stream, writer), (input, reader)] {
            stream.delegate = delegate
            stream.schedule(in: StreamThread.shared.runLoop, forMode: .default)
            stream.schedule(in: StreamThread.shared.runLoop, forMode: RunLoop.Mode("other"))
            stream.open()
        }
        return WeakStreams(output, input)
    }
}

/// What ends a stream.
enum StreamLifetime: CaseIterable, Sendable { case closed, removed, lost }

/// Both ends of a stream, without references to them.
///
/// Unchecked: streams are not `Sendable`, and here they are only compared with nil.
private struct WeakStreams: @unchecked Sendable {
    private weak var output: OutputStream?
    private weak var input: InputStream?

    init(_ output: OutputStream, _ input: InputStream) { (self.output, self.input) = (output, input) }

    var hasGone: Bool { output == nil || input == nil }

    /// Waits until both were released.
    func areGone() async throws { try await atLast { output == nil && input == nil } }
}
