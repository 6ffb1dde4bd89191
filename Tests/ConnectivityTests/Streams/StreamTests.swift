import Foundation
@preconcurrency @testable import MultipeerConnectivity
import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: streams", .inTurns)
struct StreamTests {
    @Test("200 kB arrive byte for byte on background run loops, with all events")
    func onRunLoops() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        var numbers = Seeded(1)
        let bytes = numbers.bytes(200_000)
        let (writer, reader) = (RecordingStreamDelegate(writing: bytes), RecordingStreamDelegate())
        reader.run(input)
        writer.run(output)
        _ = try await writer.wait()
        let report = try await reader.wait()
        #expect(report.bytes == bytes)
        #expect(report.events.first == Stream.Event.openCompleted.rawValue)
        #expect(report.events.last == Stream.Event.endEncountered.rawValue)
        #expect(report.events.filter { $0 == Stream.Event.openCompleted.rawValue }.count == 1)
        #expect(report.events.filter { $0 == Stream.Event.endEncountered.rawValue }.count == 1)
        #expect(report.threads.count == 1 && writer.report.threads.count == 1)
        #expect(report.error == nil)
        #expect(writer.report.events.first == Stream.Event.openCompleted.rawValue)
        exchange.end()
    }

    @Test("a stream works without a run loop: reading and writing block")
    func blocking() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        var numbers = Seeded(2)
        let bytes = numbers.bytes(3_000_000)
        let (out, into) = (UncheckedSendable(output), UncheckedSendable(input))
        async let written = BackgroundThread.value {
            out.value.open()
            defer { out.value.close() }
            return out.value.writeAll(bytes)
        }
        async let read = BackgroundThread.value {
            into.value.open()
            return into.value.allBytes()
        }
        #expect(try await written)
        #expect(try await read == bytes)
        #expect(input.streamStatus == .atEnd && !input.hasBytesAvailable)
        #expect(input.bytes(10) == [])
        #expect(output.streamStatus == .closed)
        exchange.end()
    }

    @Test("a reader that polls hasBytesAvailable has all bytes, and sees the end")
    func polling() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let (out, into) = (UncheckedSendable(output), UncheckedSendable(input))
        async let written = BackgroundThread.value {
            out.value.open()
            defer { out.value.close() }
            return out.value.writeAll(bytes)
        }
        let read = try await BackgroundThread.value { () -> [UInt8] in
            var all: [UInt8] = []
            into.value.open()
            while into.value.streamStatus != .atEnd {
                if into.value.hasBytesAvailable { all += into.value.bytes(4_096) ?? [] } else { usleep(100) }
            }
            return all
        }
        #expect(try await written)
        #expect(read == bytes)
        exchange.end()
    }

    @Test("a writer that polls hasSpaceAvailable has room from open on, and none while the reader is late")
    func pollingWriter() async throws {
        let exchange = try await ConnectedPair()
        let output = try exchange.startStream()
        #expect(!output.hasSpaceAvailable && output.write([1]) == -1)
        output.open()
        // The other side does not know of it yet.
        #expect(output.hasSpaceAvailable && output.streamStatus == .open)
        var numbers = Seeded(4)
        let bytes = numbers.bytes(2_000_000)
        let out = UncheckedSendable(output)
        let full = Promise<Void>()
        async let written = BackgroundThread.value { () -> Int in
            var rest = bytes[...]
            while !rest.isEmpty, out.value.streamStatus == .open {
                guard out.value.hasSpaceAvailable else {
                    full.send(())
                    usleep(100)
                    continue
                }
                let count = out.value.write(Array(rest.prefix(50_000)))
                if count <= 0 { break }
                rest = rest.dropFirst(count)
            }
            out.value.close()
            return bytes.count - rest.count
        }
        let into = UncheckedSendable(try await exchange.bob.recorder.stream("stream"))
        try await soon { await full.value(onCancel: { full.send(()) }) }
        let read = try await BackgroundThread.value { () -> [UInt8]? in
            into.value.open()
            return into.value.allBytes()
        }
        #expect(read == bytes)
        #expect(try await written == bytes.count)
        #expect(!output.hasSpaceAvailable && output.streamStatus == .closed && output.write([1]) == -1)
        exchange.end()
    }

    @Test(
        "a stream that is read while it says that it has bytes has all that have come, from the first moment after open",
        arguments: [[], [1], [4_096, 4_096], [65_536, 3, 100_000]] as [[Int]], [true, false])
    func readWhileAvailable(_ sizes: [Int], isReadLate: Bool) async throws {
        let opening = ChannelOpening(kind: .stream, name: "stream")
        let queue = ChannelReceiveQueue(opening, wakeLoop: {})
        let peer = try PeerID(displayName: "ann")
        let stream = PeerInputStream(
            IncomingStream(ChannelReceiver(from: peer, queue)), on: globalConcurrentExecutor)
        let arrives = { @Sendable () -> Void in
            let pieces = sizes.map { [UInt8](repeating: 5, count: $0) }
            if !pieces.isEmpty { queue.deliver(pieces, count: sizes.reduce(0, +)) }
            queue.end(.finished(digest: nil))
            queue.tell()
        }
        if isReadLate { arrives() }
        let into = UncheckedSendable(stream)
        async let read = BackgroundThread.value { () -> [UInt8] in
            var all: [UInt8] = []
            into.value.open()
            while into.value.hasBytesAvailable { all += into.value.bytes(1_000) ?? [] }
            return all
        }
        if !isReadLate { arrives() }
        #expect(try await read == [UInt8](repeating: 5, count: sizes.reduce(0, +)))
        // The end may come after the bytes.
        #expect(stream.streamStatus == .atEnd || !isReadLate)
        stream.close()
        #expect(!stream.hasBytesAvailable)
    }

    @Test("fifty streams that are read in the call that reports them, while they say that they have bytes")
    func readAtOnce() async throws {
        let exchange = try await ConnectedPair()
        for number in 0..<50 {
            let (output, input) = try await exchange.stream("stream \(number)")
            output.open()
            #expect(output.writeAll([UInt8](repeating: 9, count: 2_000)))
            output.close()
            let into = UncheckedSendable(input)
            let read = try await BackgroundThread.value { () -> [UInt8] in
                into.value.open()
                var all: [UInt8] = []
                while into.value.hasBytesAvailable { all += into.value.bytes(4_096) ?? [] }
                return all
            }
            #expect(read == [UInt8](repeating: 9, count: 2_000))
            input.close()
        }
        exchange.end()
    }

    @Test("several streams and a resource are transferred at once")
    func several() async throws {
        let exchange = try await ConnectedPair()
        let folder = Folder()
        var numbers = Seeded(3)
        let file = numbers.bytes(1_000_000)
        let (_, outcome) = exchange.send(try folder.file(file), "file.bin")
        exchange.bob.recorder.onFinish { url, _ in if let url { folder.keep(url, as: "received") } }
        var readers:
            [(
                RecordingStreamDelegate, [UInt8], UncheckedSendable<OutputStream>,
                UncheckedSendable<InputStream>
            )] = []
        for index in 0..<5 {
            let bytes = numbers.bytes(200_000)
            let (output, input) = try await exchange.stream("stream \(index)")
            let (writer, reader) = (RecordingStreamDelegate(writing: bytes), RecordingStreamDelegate())
            reader.run(input)
            writer.run(output)
            readers.append((reader, bytes, UncheckedSendable(output), UncheckedSendable(input)))
        }
        for (reader, bytes, _, _) in readers { #expect(try await reader.wait().bytes == bytes) }
        #expect(try await outcome.value() == nil)
        let (_, error) = try await exchange.bob.recorder.finish("file.bin")
        #expect(error == nil)
        #expect(try folder.bytes("received") == file)
        exchange.end()
    }

    @Test("a reader that stops holds back the writer, and messages are still delivered")
    func backPressure() async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let bytes = [UInt8](repeating: 3, count: 8_000_000)
        let writer = RecordingStreamDelegate(writing: bytes, step: 50_000)
        let written = Locked(0)
        writer.onEvent { stream, event in
            guard event == .hasSpaceAvailable, let stream = stream.value as? OutputStream else { return }
            let rest = bytes.count - written.withLock { $0 }
            let count = stream.write([UInt8](repeating: 3, count: min(50_000, rest)))
            written.withLock { $0 += max(count, 0) }
            if count == rest {
                stream.close()
                writer.finish()
            }
        }
        writer.run(output)
        for round in 0..<30 { try await exchange.talk("round \(round)") }
        // 64 KiB twice in the streams, 512 KiB and 256 KiB in the session, a piece here and there.
        #expect(written.withLock { $0 } < 1_200_000)
        let into = UncheckedSendable(input)
        let read = try await BackgroundThread.value {
            into.value.open()
            return into.value.allBytes(1_000_000)
        }
        #expect(read == bytes)
        _ = try await writer.wait()
        exchange.end()
    }

    @Test(
        "a write of up to 64 KiB is taken whole while there is room",
        arguments: [1_000, 40_000, 65_536, 100_000])
    func wholeWrites(_ size: Int) async throws {
        let exchange = try await ConnectedPair()
        let (output, input) = try await exchange.stream()
        let bytes = [UInt8](repeating: 4, count: size)
        output.open()
        var written = 0
        // Nobody reads, so that in the end there is no room.
        for round in 0..<10 {
            while output.hasSpaceAvailable {
                let count = output.write(bytes)
                #expect(count == min(size, 65_536))
                written += count
            }
            try await exchange.talk("round \(round)")
        }
        output.close()
        let into = UncheckedSendable(input)
        let read = try await BackgroundThread.value {
            into.value.open()
            return into.value.allBytes()
        }
        #expect(read?.count == written)
        exchange.end()
    }

    @Test("128 streams may be open to a peer at once, and the next one begins when one of them ends")
    func crowd() async throws {
        let (ann, bob) = try await Member.pair(configuration: .facadeOnLoopback)
        let outputs = try (0...128).map { number in
            try ann.session.startStream(withName: "\(number)", toPeer: bob.peer)
        }
        for output in outputs { output.open() }
        try await bob.recorder.log.until { $0.count { $0.isStream } == 128 }
        outputs[0].close()
        let first = UncheckedSendable(try await bob.recorder.stream("0"))
        _ = try await BackgroundThread.value {
            first.value.open()
            return first.value.allBytes()
        }
        _ = try await bob.recorder.stream("128")
        for member in [ann, bob] { member.session.disconnect() }
    }

    @Test("many streams one after the other leak nothing")
    func sequence() async throws {
        let exchange = try await ConnectedPair()
        for index in 0..<Sanitizer.fewer(1_000) {
            let output = try exchange.startStream("\(index)")
            output.open()
            #expect(output.write([1, 2, 3]) == 3)
            output.close()
            let input = UncheckedSendable(try await exchange.bob.recorder.stream("\(index)"))
            exchange.bob.recorder.log.clear()
            let bytes = try await BackgroundThread.value {
                input.value.open()
                defer { input.value.close() }
                return input.value.allBytes()
            }
            #expect(bytes == [1, 2, 3])
        }
        exchange.end()
    }

    @Test("a stream to a peer that is not connected, or without a name, is refused at once")
    func refusal() async throws {
        let exchange = try await ConnectedPair()
        let stranger = MCPeerID(displayName: "cleo")
        #expect(
            code(of: { try exchange.ann.session.startStream(withName: "x", toPeer: stranger) })
                == .notConnected)
        #expect(
            code(of: { try exchange.ann.session.startStream(withName: "x", toPeer: exchange.ann.peer) })
                == .notConnected)
        let long = String(repeating: "n", count: 1_025)
        for name in ["", long] {
            #expect(
                code(of: { try exchange.ann.session.startStream(withName: name, toPeer: exchange.bob.peer) })
                    == .invalidParameter)
        }
        exchange.end()
        #expect(
            code(of: { try exchange.ann.session.startStream(withName: "x", toPeer: exchange.bob.peer) })
                == .notConnected)
    }
}
