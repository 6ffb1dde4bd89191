import MultipeerConnectivity

// The events of streams, their run loops, and how they end.
extension Program {
    static let streamEvents: [Program] = [
        Program(
            "stream-event.reader",
            "A reader's delegate is called when the stream is open, has bytes, and is at its end, in "
                + "this order.",
            .streamEvent,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "events", toPeer: right)
                app.write(stream, "events", Application.bytes(1_000))
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read events to its end")
                app.expect(readers["events"]?.events, is: ["open", "bytes", "end"], "the events")
                app.post("done")
            }),
        Program(
            "stream-event.writer",
            "A writer's delegate is called when the stream is open, and then when there is room.",
            .writingStreams,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "events", toPeer: right)
                let writer = app.write(stream, "events", Application.bytes(1_000))
                try await app.wait("wrote events")
                app.expect(writer.events, is: ["open", "space"], "the events")
                try await app.posted("done")
            },
            right: { app in
                app.readStreams()
                try await app.connect()
                try await app.wait("read events to its end")
                app.post("done")
            }),
        Program(
            "stream-event.room-again", "After each write that leaves room the writer is called again.",
            .writingStreams,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "room", toPeer: right)
                app.write(stream, "room", Application.bytes(1_000_000), chunk: 10_000)
                try await app.wait("wrote room")
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read room to its end")
                app.expect(readers["room"]?.bytes.count, is: 1_000_000, "the number of bytes")
                app.post("done")
            }),
        Program(
            "stream-event.own-run-loop",
            "The delegate is called on the thread of the run loop where the stream is scheduled.",
            .streamSchedule,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "loop", toPeer: right)
                app.write(stream, "loop", Application.bytes(100_000))
                try await app.posted("done")
            },
            right: { app in
                @Guarded var reader: StreamReader? = nil
                app.onStream = { [$reader] stream, name, _ in
                    let stream = Guarded(wrappedValue: stream)
                    Thread.detachNewThread {
                        $reader.change {
                            $0 = StreamReader(stream.wrappedValue, name, for: app, in: .current)
                        }
                        while let own = $reader.wrappedValue, !own.isOver {
                            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                        }
                    }
                }
                try await app.connect()
                try await app.wait("read loop to its end")
                app.expect(reader?.isOnOwnThread, is: true, "whether all calls are on its thread")
                app.expect(reader?.bytes.count, is: 100_000, "the number of bytes")
                app.post("done")
            }),
        Program(
            "stream-event.late-delegate",
            "A delegate that is set when there are bytes already is called for them.", .readingStreams,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "late", toPeer: right)
                app.write(stream, "late", Data("early bytes".utf8))
                try await app.wait("wrote late")
                try app.say("written", to: right)
                try await app.posted("done")
            },
            right: { app in
                @Guarded var received: InputStream? = nil
                app.onStream = { [$received] stream, _, _ in $received.wrappedValue = stream }
                try await app.connect()
                try await app.wait("stream late of left", "left: written")
                guard let stream = received else { throw Failure("there is no stream") }
                let reader = StreamReader(stream, "late", for: app)
                try await app.wait("read late to its end")
                app.expect(reader.bytes, is: Data("early bytes".utf8), "what was read")
                app.post("done")
            }),
        Program(
            "stream-event.status",
            "The status of a stream is not open, open, at the end, and closed, one after the other.",
            .streamStatus,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "status", toPeer: right)
                app.expect(stream.streamStatus, is: .notOpen, "before it is opened")
                stream.open()
                app.expect(stream.streamStatus, is: .open, "when it is open")
                app.expect(stream.write([1, 2, 3], maxLength: 3), is: 3, "the bytes that are written")
                stream.close()
                app.expect(stream.streamStatus, is: .closed, "when it is closed")
                try await app.posted("done")
            },
            right: { app in
                @Guarded var received: InputStream? = nil
                app.onStream = { [$received] stream, _, _ in $received.wrappedValue = stream }
                try await app.connect()
                try await app.wait("stream status of left")
                guard let stream = received else { throw Failure("there is no stream") }
                app.expect(stream.streamStatus, is: .notOpen, "before it is opened")
                stream.open()
                app.expect(
                    [.open, .atEnd].contains(stream.streamStatus), "it is open, or at its end already")
                // Without a run loop a read waits.
                var buffer = [UInt8](repeating: 0, count: 10)
                app.expect(stream.read(&buffer, maxLength: 10), is: 3, "the bytes that are read")
                app.expect(stream.read(&buffer, maxLength: 10), is: 0, "what is read at the end")
                app.expect(stream.streamStatus, is: .atEnd, "at the end")
                stream.close()
                app.expect(stream.streamStatus, is: .closed, "when it is closed")
                app.post("done")
            }),
        Program(
            "stream-event.polling", "A stream can be used without a run loop: reading and writing wait.",
            .read,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "poll", toPeer: right)
                let kept = Guarded(wrappedValue: stream)
                Thread.detachNewThread {
                    let stream = kept.wrappedValue
                    stream.open()
                    var rest = Application.bytes(500_000)
                    while !rest.isEmpty {
                        let count = stream.write([UInt8](rest), maxLength: rest.count)
                        if count <= 0 { break }
                        rest = rest.dropFirst(count)
                    }
                    stream.close()
                    app.note("written")
                }
                try await app.wait("written")
                try await app.posted("done")
            },
            right: { app in
                @Guarded var bytes = Data()
                app.onStream = { [$bytes] stream, _, _ in
                    let kept = Guarded(wrappedValue: stream)
                    Thread.detachNewThread {
                        let stream = kept.wrappedValue
                        stream.open()
                        var buffer = [UInt8](repeating: 0, count: 10_000)
                        while case let count = stream.read(&buffer, maxLength: 10_000), count > 0 {
                            $bytes.change { $0.append(contentsOf: buffer.prefix(count)) }
                        }
                        stream.close()
                        app.note("read")
                    }
                }
                try await app.connect()
                try await app.wait("read")
                app.expect(bytes == Application.bytes(500_000), "it is what was written")
                app.post("done")
            }),
        Program(
            "stream-event.unkept-reader",
            "A stream that is open and scheduled is delivered, also when no other object keeps it.",
            .openStream,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "unkept", toPeer: right)
                stream.open()
                try await app.posted("open")
                app.expect(
                    stream.write([UInt8]("hello".utf8), maxLength: 5), is: 5, "the bytes that are written")
                stream.close()
                try await app.posted("done")
            },
            right: { app in
                let delegate = UnkeptStreamDelegate(app)
                app.onStream = { stream, _, _ in
                    stream.delegate = delegate
                    stream.schedule(in: .main, forMode: .default)
                    stream.open()
                }
                try await app.connect()
                try await app.wait("stream unkept of left")
                app.post("open")
                try await app.record.wait(for: "read hello", within: 3)
                app.keep(delegate)
                app.post("done")
            }),
        Program(
            "stream-event.unkept-writer",
            "A scheduled stream to a peer keeps its data and its end, also when no other object keeps it.",
            .openStream,
            left: { app in
                let right = try await app.connect()
                let delegate = UnkeptStreamDelegate(app)
                func start() throws {
                    let stream = try app.session.startStream(withName: "unkept", toPeer: right)
                    stream.delegate = delegate
                    stream.schedule(in: .main, forMode: .default)
                    stream.open()
                }
                try start()
                try await app.record.wait(for: "written", within: 3)
                try await app.posted("done")
                app.keep(delegate)
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read unkept to its end")
                app.expect(readers["unkept"]?.bytes, is: Data("hello".utf8), "what was read")
                app.post("done")
            }),
        Program(
            "stream-event.whole-write", "A write of up to 64 KiB is taken whole where the stream has room.",
            .write,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "whole", toPeer: right)
                let delegate = WholeWriter(stream, app)
                try await app.wait("all writes are made")
                app.expect(
                    delegate.counts.allSatisfy { $0 == 40_000 }, "all are taken whole: \(delegate.counts)")
                try await app.posted("done")
            },
            right: { app in
                app.readStreams()
                try await app.connect()
                try await app.wait("read whole to its end")
                app.post("done")
            }),
    ]
}
