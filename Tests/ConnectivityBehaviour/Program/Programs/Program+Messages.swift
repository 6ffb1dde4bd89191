import MultipeerConnectivity

extension Program {
    static let messages: [Program] = [
        Program(
            "message.arrives", "A message arrives as it was sent, with its sender.", .send,
            left: { app in
                let right = try await app.connect()
                try app.session.send(Data("hello".utf8), toPeers: [right], with: .reliable)
                try await app.wait("right: hello yourself")
            },
            right: { app in
                app.onData = { [session = app.session] _, peer in
                    app.expect(session.connectedPeers == [peer], "the sender is the connected peer")
                }
                let left = try await app.connect()
                try await app.wait("left: hello")
                try app.say("hello yourself", to: left)
            }),
        Program(
            "message.empty", "An empty message arrives as an empty message.", .here,
            left: { app in
                let right = try await app.connect()
                try app.session.send(Data(), toPeers: [right], with: .reliable)
                try app.say("after", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: after")
                app.expect(app.messages, is: [Data(), Data("after".utf8)], "the messages")
            }),
        Program(
            "message.boundaries",
            "Messages that are sent one after the other are not joined, and none is split.", .talk2013,
            left: { app in
                let right = try await app.connect()
                for size in [1, 2, 1_000, 65_535, 65_536, 65_537, 3, 1_048_576, 1] {
                    let data = Application.bytes(size, seed: UInt64(size))
                    try app.session.send(data, toPeers: [right], with: .reliable)
                }
                try app.say("end", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: end")
                let sizes = [1, 2, 1_000, 65_535, 65_536, 65_537, 3, 1_048_576, 1]
                app.expect(app.messages.dropLast().map(\.count), is: sizes, "the sizes")
                let isEqual = app.messages.dropLast().allSatisfy {
                    $0 == Application.bytes($0.count, seed: UInt64($0.count))
                }
                app.expect(isEqual, "the bytes are those that were sent")
            }),
        Program(
            "message.order",
            "Reliable messages arrive in the order in which they were sent, each of them once.", .sendMode,
            left: { app in
                let right = try await app.connect()
                for number in 0..<1_000 { try app.say("\(number)", to: right) }
                try app.say("end", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: end")
                let texts = app.messages.dropLast().map { String(decoding: $0, as: UTF8.self) }
                app.expect(texts == (0..<1_000).map { "\($0)" }, "all of them have arrived, in order")
            }),
        Program(
            "message.large", "A message of 16 MiB arrives whole.", .here,
            left: { app in
                let right = try await app.connect()
                try app.session.send(Data(count: 16 << 20), toPeers: [right], with: .reliable)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: 16777216 bytes")
            }),
        Program(
            "message.too-large",
            "A message of more than 64 MiB is refused when it is sent, and does no harm.", .here,
            left: { app in
                let right = try await app.connect()
                app.expect(.invalidParameter, "sending one byte more") {
                    try app.session.send(Data(count: 64 << 20 + 1), toPeers: [right], with: .reliable)
                }
                try app.say("after", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: after")
                app.expect(app.messages.count, is: 1, "the number of messages")
            }),
        Program(
            "message.unreliable", "An unreliable message arrives unchanged or not at all, and at most once.",
            .sendMode,
            left: { app in
                let right = try await app.connect()
                for number in 0..<50 {
                    try app.session.send(Data("shot \(number)".utf8), toPeers: [right], with: .unreliable)
                }
                try app.say("end", to: right)
                try await app.posted("done")
            },
            right: { app in
                let sent = Set((0..<50).map { Data("shot \($0)".utf8) })
                try await app.connect()
                try await app.wait("left: end")
                let received = app.messages.filter { $0 != Data("end".utf8) }
                app.expect(Set(received).isSubset(of: sent), "only what was sent has arrived")
                app.expect(
                    Set(received).count, is: received.count, "how many have arrived, each of them once")
                app.post("done")
            }),
        Program(
            "message.unreliable-large", "An unreliable message that fits no packet is whole when it arrives.",
            .here,
            left: { app in
                let right = try await app.connect()
                let data = Application.bytes(40_000)
                try app.session.send(data, toPeers: [right], with: .unreliable)
                try await app.posted("done")
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: 40000 bytes")
                app.expect(app.messages == [Application.bytes(40_000)], "it is what was sent")
                app.post("done")
            }),
        Program(
            "message.from-callback", "A message may be answered inside the call that reports it.",
            .sessionDelegate,
            left: { app in
                let right = try await app.connect()
                let session = app.session
                app.onData = { data, peer in
                    if data.count < 20 { try? session.send(data + data, toPeers: [peer], with: .reliable) }
                }
                try app.say("ab", to: right)
                try await app.wait("right: abab", "right: abababababababab", "right: 64 bytes")
            },
            right: { app in
                let session = app.session
                app.onData = { data, peer in try? session.send(data + data, toPeers: [peer], with: .reliable)
                }
                try await app.connect()
                try await app.wait("left: abababab")
            }),
        Program(
            "message.on-connecting",
            "A message that is sent inside the call that reports `.connected` arrives.", .didChange,
            left: { app in
                let session = app.session
                app.onState = { peer, state in
                    guard state == .connected else { return }
                    do {
                        try session.send(Data("first".utf8), toPeers: [peer], with: .reliable)
                    } catch {
                        app.fail("\(error)")
                    }
                }
                try await app.connect()
                try await app.wait("right: first")
            },
            right: { app in
                let session = app.session
                app.onState = { peer, state in
                    guard state == .connected else { return }
                    try? session.send(Data("first".utf8), toPeers: [peer], with: .reliable)
                }
                try await app.connect()
                try await app.wait("left: first")
            }),
        Program(
            "message.from-many-threads",
            "Messages that several threads send at once all arrive, each thread's in order.", .send,
            left: { app in
                let right = try await app.connect()
                let session = app.session
                DispatchQueue.concurrentPerform(iterations: 8) { thread in
                    for number in 0..<50 {
                        let data = Data("\(thread) \(number)".utf8)
                        do { try session.send(data, toPeers: [right], with: .reliable) } catch {
                            app.fail("\(error)")
                        }
                    }
                }
                try app.say("end", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: end")
                let texts = app.messages.dropLast().map { String(decoding: $0, as: UTF8.self) }
                app.expect(texts.count, is: 400, "the number of messages")
                for thread in 0..<8 {
                    let own = texts.filter { $0.hasPrefix("\(thread) ") }
                    app.expect(
                        own == (0..<50).map { "\(thread) \($0)" }, "those of thread \(thread) are in order")
                }
            }),
        Program(
            "message.slice", "A part of a larger `Data` arrives as that part.", .send,
            left: { app in
                let right = try await app.connect()
                try app.session.send(Data("0123456789".utf8)[3..<7], toPeers: [right], with: .reliable)
                try app.session.send(Data("abc".utf8).dropFirst(3), toPeers: [right], with: .reliable)
                try app.say("end", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: end")
                app.expect(app.messages, is: [Data("3456".utf8), Data(), Data("end".utf8)], "the messages")
            }),
        Program(
            "message.then-disconnect",
            "What was sent before a disconnect arrives before the disconnect is reported.", .here,
            left: { app in
                let right = try await app.connect()
                for number in 0..<100 { try app.say("\(number)", to: right) }
                app.session.disconnect()
                try await app.posted("done")
            },
            right: { app in
                try await app.connect()
                try await app.wait("left notConnected")
                app.expect(app.messages.count, is: 100, "the number of messages")
                app.post("done")
            }),
    ]
}
