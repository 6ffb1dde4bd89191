import MultipeerConnectivity

extension Program {
    static let streams: [Program] = [
        Program(
            "stream.arrives",
            "What is written to a stream arrives in order, and then its end; name and peer are reported.",
            .startStream,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "song", toPeer: right)
                app.write(stream, "song", Application.bytes(200_000))
                try await app.wait("wrote song")
                try await app.posted("done")
            },
            right: { app in
                let reader = app.readStreams()
                try await app.connect()
                try await app.wait("stream song of left", "read song to its end")
                app.expect(reader["song"]?.bytes == Application.bytes(200_000), "it is what was written")
                app.post("done")
            }),
        Program(
            "stream.from-invitee", "The invited peer can open a stream to its inviter.", .startStream,
            left: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read back to its end")
                app.expect(readers["back"]?.bytes, is: Data("hello".utf8), "what was read")
                app.post("done")
            },
            right: { app in
                let left = try await app.connect()
                let stream = try app.session.startStream(withName: "back", toPeer: left)
                app.write(stream, "back", Data("hello".utf8))
                try await app.posted("done")
            }),
        Program(
            "stream.both-ways", "A stream is one-way: for two directions each peer opens one.",
            .didReceiveStream,
            left: { app in try await exchangeStreams(app) },
            right: { app in try await exchangeStreams(app) }),
        Program(
            "stream.same-name", "Two streams with one name are two streams.", .startStream,
            left: { app in
                let right = try await app.connect()
                for text in ["first", "second"] {
                    let stream = try app.session.startStream(withName: "twin", toPeer: right)
                    app.write(stream, text, Data(text.utf8))
                }
                try await app.posted("done")
            },
            right: { app in
                @Guarded var readers: [StreamReader] = []
                app.onStream = { [$readers] stream, name, _ in
                    $readers.change { $0.append(StreamReader(stream, name, for: app)) }
                }
                try await app.connect()
                try await app.wait("read twin to its end", "read twin to its end")
                let texts = Set(readers.map { String(decoding: $0.bytes, as: UTF8.self) })
                app.expect(texts, is: ["first", "second"], "what was read")
                app.post("done")
            }),
        Program(
            "stream.odd-name", "A stream's name may be any text.", .startStream,
            left: { app in
                let right = try await app.connect()
                let names = ["a/b", "Ünï 🎵", "with\nnewline", String(repeating: "x", count: 1_000)]
                for name in names {
                    let stream = try app.session.startStream(withName: name, toPeer: right)
                    app.write(stream, name, Data(name.utf8))
                }
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                for name in ["a/b", "Ünï 🎵", "with\nnewline", String(repeating: "x", count: 1_000)] {
                    try await app.wait("stream \(name) of left", "read \(name) to its end")
                    app.expect(readers[name]?.bytes == Data(name.utf8), "it has its own content")
                }
                app.post("done")
            }),
        Program(
            "stream.empty", "A stream that is closed without a byte arrives, and is at its end.",
            .didReceiveStream,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "empty", toPeer: right)
                stream.open()
                stream.close()
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read empty to its end")
                app.expect(readers["empty"]?.bytes, is: Data(), "what was read")
                app.post("done")
            }),
        Program(
            "stream.small-writes", "Many small writes arrive as the same bytes, in order.", .write,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "drops", toPeer: right)
                app.write(stream, "drops", Application.bytes(3_000), chunk: 1)
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read drops to its end")
                app.expect(readers["drops"]?.bytes == Application.bytes(3_000), "it is what was written")
                app.post("done")
            }),
        Program(
            "stream.small-reads", "A reader that takes a part at each event is called again for the rest.",
            .read,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "sips", toPeer: right)
                app.write(stream, "sips", Application.bytes(30_000))
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams(chunk: 17)
                try await app.connect()
                try await app.wait("read sips to its end")
                app.expect(readers["sips"]?.bytes == Application.bytes(30_000), "it is what was written")
                app.post("done")
            }),
        Program(
            "stream.large", "A stream of 8 MiB arrives byte for byte.", .startStream,
            left: { app in
                let right = try await app.connect()
                let stream = try app.session.startStream(withName: "large", toPeer: right)
                app.write(stream, "large", Application.bytes(8 << 20))
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                try await app.wait("read large to its end")
                app.expect(readers["large"]?.bytes == Application.bytes(8 << 20), "it is what was written")
                app.post("done")
            }),
        Program(
            "stream.twenty", "Twenty streams at once arrive, each with its own content.", .startStream,
            left: { app in
                let right = try await app.connect()
                for number in 0..<20 {
                    let stream = try app.session.startStream(withName: "\(number)", toPeer: right)
                    app.write(stream, "\(number)", Application.bytes(20_000, seed: UInt64(number + 1)))
                }
                try await app.posted("done")
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                for number in 0..<20 {
                    try await app.wait("read \(number) to its end")
                    let expected = Application.bytes(20_000, seed: UInt64(number + 1))
                    app.expect(
                        readers["\(number)"]?.bytes == expected, "stream \(number) has its own content")
                }
                app.post("done")
            }),
        Program(
            "stream.hundred",
            "A hundred streams that are opened at once are all reported, while all of them stay open.",
            .startStream,
            left: { app in
                let right = try await app.connect()
                let streams = try (0..<100).map {
                    try app.session.startStream(withName: "\($0)", toPeer: right)
                }
                for stream in streams { stream.open() }
                try await app.posted("done")
                withExtendedLifetime(streams) {}
            },
            right: { app in
                let readers = app.readStreams()
                try await app.connect()
                for number in 0..<100 {
                    try await app.record.wait(for: "stream \(number) of left", within: 3)
                }
                app.post("done")
            }),
    ]

    @MainActor
    private static func exchangeStreams(_ app: Application) async throws {
        let readers = app.readStreams()
        let other = try await app.connect()
        let (mine, theirs) = (app.role.rawValue, app.role.other.rawValue)
        let stream = try app.session.startStream(withName: mine, toPeer: other)
        app.write(stream, mine, Data("from \(mine)".utf8))
        try await app.wait("wrote \(mine)", "read \(theirs) to its end")
        app.expect(readers[theirs]?.bytes, is: Data("from \(theirs)".utf8), "what was read")
        try await app.meet("done")
    }
}
