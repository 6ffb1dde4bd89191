import MultipeerConnectivity

extension Program {
    static let streamEnds: [Program] = [
        Program(
            "stream-end.reader-closes",
            "When the reader closes a stream, its writer is called with an error, or can no longer write.",
            .streamClose,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "refused", toPeer: right)
                let writer = app.write(stream, "refused", Data("hello".utf8), closes: false)
                try await app.wait("writing refused failed")
                app.expect(writer.code, is: "cancelled", "the error")
            },
            right: { app in
                app.onStream = { stream, _, _ in
                    stream.open()
                    stream.close()
                }
                try await app.connect()
                try await app.wait("stream refused of left")
            }),
        Program(
            "stream-end.write-after-close", "Nothing can be written to a closed stream: the result is −1.",
            .write,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "closed", toPeer: right)
                stream.open()
                app.expect(stream.write([1], maxLength: 1), is: 1, "the bytes that are written")
                stream.close()
                app.expect(stream.write([2], maxLength: 1), is: -1, "the result after the close")
                app.expect(!stream.hasSpaceAvailable, "there is no room")
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read closed to its end")
                app.expect(readers["closed"]?.bytes, is: Data([1]), "what was read")
                app.post("done")
            }),
        Program(
            "stream-end.reopened", "A stream that was closed cannot be opened again.", .stream,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "once", toPeer: right)
                stream.open()
                stream.close()
                stream.open()
                app.expect(stream.streamStatus, is: .closed, "the status")
                app.expect(stream.write([2], maxLength: 1), is: -1, "the result of a write")
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read once to its end")
                app.expect(readers["once"]?.bytes, is: Data(), "what was read")
                app.post("done")
            }),
        Program(
            "stream-end.before-open",
            "Nothing can be written to a stream that was not opened: the result is −1.", .write,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "early", toPeer: right)
                app.expect(stream.write([1], maxLength: 1), is: -1, "the result before it is open")
                stream.open()
                app.expect(stream.write([2], maxLength: 1), is: 1, "the result when it is open")
                stream.close()
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read early to its end")
                app.expect(readers["early"]?.bytes, is: Data([2]), "what was read")
                app.post("done")
            }),
        Program(
            "stream-end.session-ends",
            "When the session disconnects, open streams end with an error on both sides.", .here,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "cut", toPeer: right)
                let writer = app.write(stream, "cut", Data("hello".utf8), closes: false)
                try await app.posted("reading")
                app.session.disconnect()
                try await app.wait("writing cut failed", "right notConnected")
                app.expect(writer.code, is: "notConnected", "the error")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("reading cut")
                app.post("reading")
                try await app.wait("left notConnected")
                try await app.wait("reading cut failed")
                app.expect(readers["cut"]?.code != nil, "there is an error")
            }),
        Program(
            "stream-end.writer-leaves",
            "When the writer's session disconnects, its reader gets the error `.notConnected`, after all "
                + "bytes.",
            .errorCode,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "cut", toPeer: right)
                app.write(stream, "cut", Data("hello".utf8), closes: false)
                try await app.posted("reading")
                app.session.disconnect()
                try await app.wait("right notConnected")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("reading cut")
                app.post("reading")
                try await app.wait("left notConnected")
                try await app.wait("reading cut failed")
                app.expect(readers["cut"]?.bytes, is: Data("hello".utf8), "what was read")
                app.expect(readers["cut"]?.code, is: "notConnected", "the error")
            }),
        Program(
            "stream-end.reader-leaves",
            "When the reader's session disconnects, the writer is called with the error `.notConnected`.",
            .errorCode,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "cut", toPeer: right)
                let writer = app.write(stream, "cut", Data("hello".utf8), closes: false)
                try await app.wait("writing cut failed")
                app.expect(writer.code, is: "notConnected", "the error")
            },
            right: { app in
                app.readStreams()
                try await app.connect()
                try await app.wait("reading cut")
                app.session.disconnect()
                try await app.wait("left notConnected", "reading cut failed")
            }),
        Program(
            "stream-end.writer-crashes",
            "When the process of the writer ends, the reader is called with an error, after all bytes.",
            .streamEvent,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "cut", toPeer: right)
                app.write(stream, "cut", Data("hello".utf8), closes: false)
                try await app.posted("reading")
                app.crash()
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("reading cut")
                app.post("reading")
                try await app.wait("reading cut failed")
                app.expect(readers["cut"]?.bytes, is: Data("hello".utf8), "what was read")
                app.expect(readers["cut"]?.code != nil, "there is an error")
            }),
        Program(
            "stream-end.later-messages", "A stream that has ended does not disturb what comes later.",
            .session,
            left: { app in
                let right = try await app.connect()
                for number in 0..<10 {
                    let stream = try app.session.startStream(withName: "\(number)", toPeer: right)
                    stream.open()
                    stream.close()
                }
                try app.say("after", to: right)
                try await app.posted("done")
            },
            right: { app in
                app.readStreams()
                try await app.connect()
                try await app.wait("left: after")
                for number in 0..<10 { try await app.wait("read \(number) to its end") }
                app.post("done")
            }),
        Program(
            "stream-end.held-back", "A reader that does not read holds back its writer, and nothing else.",
            .here,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "slow", toPeer: right)
                app.write(stream, "slow", Application.bytes(8 << 20))
                try await app.wait("stream other of right")
                try app.say("a message", to: right)
                try await app.posted("held back")
                app.expect(!app.record.texts(of: .stream).contains("wrote slow"), "the writer waits")
                app.post("go on")
                try await app.wait("wrote slow")
                try await app.posted("done")
            },
            right: { app in
                @Guarded var received: InputStream? = nil
                app.onStream = { [$received] stream, _, _ in $received.wrappedValue = stream }
                let left = try await app.connect()
                try await app.wait("stream slow of left")
                let other = try app.session.startStream(withName: "other", toPeer: left)
                other.open()
                other.close()
                try await app.wait("left: a message")
                app.post("held back")
                try await app.posted("go on")
                guard let stream = received else { throw Failure("there is no stream") }
                let reader = StreamReader(stream, "slow", for: app)
                try await app.wait("read slow to its end")
                app.expect(reader.bytes == Application.bytes(8 << 20), "it is what was written")
                app.post("done")
            }),
    ]
}
