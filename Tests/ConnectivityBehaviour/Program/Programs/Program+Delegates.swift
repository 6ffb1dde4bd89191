import MultipeerConnectivity

// Delegates and the queues of their calls.
extension Program {
    static let delegates: [Program] = [
        Program(
            "delegate.weak", "A session does not keep its delegate alive.", .header("MCSession"),
            left: { app in
                try await app.connect()
                weak let delegate = makeDelegate(of: app.session, app)
                app.expect(delegate == nil, "a delegate that no other object keeps is gone")
                app.expect(app.session.delegate == nil, "and the property is nil")
            },
            right: { app in try await app.connect() }),
        Program(
            "delegate.none",
            "Without a delegate a session connects; one that is set later receives what comes later.", .here,
            left: { app in
                app.session.delegate = nil
                app.inviteAll()
                try await app.posted("early")
                app.session.delegate = app
                app.post("listening")
                try await app.wait("right: late")
                app.expect(app.sessionEvents, is: ["right: late"], "the calls")
            },
            right: { app in
                let left = try await app.connect()
                try app.say("early", to: left)
                // Without a delegate it is declined, after the message was taken.
                app.session.sendResource(at: try app.file("x", Data([1])), withName: "x", toPeer: left) { _ in
                    app.note("declined")
                }
                try await app.wait("declined")
                app.post("early")
                try await app.posted("listening")
                try app.say("late", to: left)
            }),
        Program(
            "delegate.replaced", "A delegate that replaces another one receives everything from then on.",
            .sessionDelegate,
            left: { app in
                let right = try await app.connect()
                try app.say("first", to: right)
                try await app.posted("replaced")
                try app.say("second", to: right)
                try await app.posted("done")
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: first")
                let other = SecondDelegate(app)
                app.session.delegate = other
                app.post("replaced")
                try await app.wait("the second delegate has received: second")
                app.expect(!app.sessionEvents.contains("left: second"), "the first one has not received it")
                app.post("done")
            }),
        Program(
            "delegate.not-main",
            "The delegate of a session is called on a private queue, never on the main thread.",
            .sessionDelegate,
            left: { app in
                app.onState = { _, _ in app.expect(!Thread.isMainThread, "the call is not on the main thread")
                }
                app.onData = { _, _ in app.expect(!Thread.isMainThread, "the call is not on the main thread")
                }
                try await app.connect()
                try await app.wait("right: hello")
            },
            right: { app in try app.say("hello", to: try await app.connect()) }),
        Program(
            "delegate.serial",
            "The calls of one session are made one after the other, also those about different peers.",
            .sessionDelegate,
            left: { app in
                @Guarded var depth = 0
                app.onData = { [$depth] _, _ in
                    $depth.change { $0 += 1 }
                    app.expect($depth.wrappedValue, is: 1, "the calls at one time")
                    $depth.change { $0 -= 1 }
                }
                app.inviteAll()
                try await app.wait("anna connected", "otto connected")
                app.post("all")
                try await app.wait("anna: end", "otto: end")
                app.expect(app.messages.count, is: 402, "the number of messages")
            },
            right: { app in
                let peers = [FurtherPeer("anna", in: app), FurtherPeer("otto", in: app)]
                for peer in peers { peer.advertiser.startAdvertisingPeer() }
                try await app.posted("all")
                try await app.wait("anna: left connected", "otto: left connected")
                for text in (0..<200).map({ "\($0)" }) + ["end"] {
                    for peer in peers {
                        let left = peer.session.connectedPeers.filter { $0.displayName == "left" }
                        try peer.session.send(Data(text.utf8), toPeers: left, with: .reliable)
                    }
                }
            }),
        Program(
            "delegate.main-blocked",
            "The calls of a session do not need the main thread: they come while it is blocked.",
            .note,
            left: { app in
                let received = DispatchSemaphore(value: 0)
                app.onData = { _, _ in received.signal() }
                try await app.connect()
                app.post("blocked")
                app.expect(
                    received.wait(timeout: .now() + Application.timeout) == .success, "a message has come")
            },
            right: { app in
                let left = try await app.connect()
                try await app.posted("blocked")
                try app.say("hello", to: left)
            }),
        Program(
            "delegate.main-sync", "A call of a session's delegate may wait for the main queue.",
            .sessionDelegate,
            left: { app in
                let session = app.session
                app.onState = { _, state in
                    let count = DispatchQueue.main.sync { session.connectedPeers.count }
                    app.expect(count, is: state == .connected ? 1 : 0, "the peers at \(state)")
                }
                app.onData = { _, peer in
                    DispatchQueue.main.sync {
                        try? session.send(Data("answer".utf8), toPeers: [peer], with: .reliable)
                    }
                }
                try await app.connect()
                try await app.posted("answered")
            },
            right: { app in
                try app.say("hello", to: try await app.connect())
                try await app.wait("left: answer")
                app.post("answered")
            }),
        Program(
            "delegate.slow",
            "A delegate that takes long delays what comes after, and nothing is lost or out of order.",
            .sendMode,
            left: { app in
                let right = try await app.connect()
                for number in 0..<300 { try app.say("\(number)", to: right) }
                app.post("sent")
                try app.say("end", to: right)
            },
            right: { app in
                let goOn = DispatchSemaphore(value: 0)
                @Guarded var isFirst = true
                app.onData = { [$isFirst] _, _ in
                    if $isFirst.wrappedValue { goOn.wait() }
                    $isFirst.wrappedValue = false
                }
                try await app.connect()
                try await app.posted("sent")
                goOn.signal()
                try await app.wait("left: end")
                let texts = app.messages.dropLast().map { String(decoding: $0, as: UTF8.self) }
                app.expect(texts == (0..<300).map { "\($0)" }, "all of them have arrived, in order")
            }),
        Program(
            "delegate.everything-inside",
            "Every method of a session may be called inside a call of its delegate.",
            .sessionDelegate,
            left: { app in
                let session = app.session
                app.onData = { _, peer in
                    _ = session.connectedPeers
                    session.cancelConnectPeer(peer)
                    session.nearbyConnectionData(forPeer: peer) { _, _ in app.note("data was made") }
                    do {
                        try session.send(Data("inside".utf8), toPeers: [peer], with: .reliable)
                        try session.startStream(withName: "inside", toPeer: peer).close()
                    } catch {
                        app.fail("\(error)")
                    }
                    session.sendResource(at: URL(fileURLWithPath: "/none"), withName: "x", toPeer: peer) {
                        _ in
                        app.note("nothing was sent")
                    }
                    session.disconnect()
                }
                try await app.connect()
                try await app.wait("right: hello", "nothing was sent", "data was made", "right notConnected")
            },
            right: { app in
                try app.say("hello", to: try await app.connect())
                try await app.wait("left: inside", "left notConnected")
            }),
        Program(
            "delegate.nearby-main",
            "The delegates of a browser and of an advertiser are called on the main queue of an "
                + "application that runs it.",
            .mainQueue,
            left: { app in
                let (browser, session) = (app.browser, app.session)
                app.onFound = { peer, _ in
                    app.expect(Thread.isMainThread, "the call is on the main thread")
                    browser.invitePeer(peer, to: session, withContext: nil, timeout: 30)
                }
                browser.startBrowsingForPeers()
                try await app.wait("right connected")
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in
                    app.expect(Thread.isMainThread, "the call is on the main thread")
                    answer(true, session)
                }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left connected")
            }),
        Program(
            "delegate.nearby-main-actor",
            "A delegate of a browser and of an advertiser may assume that it is on the main actor.",
            .mainQueue,
            left: { app in
                let (browser, session) = (app.browser, app.session)
                app.onFound = { peer, _ in
                    MainActor.preconditionIsolated()
                    browser.invitePeer(peer, to: session, withContext: nil, timeout: 30)
                }
                browser.startBrowsingForPeers()
                try await app.wait("right connected")
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in
                    MainActor.preconditionIsolated()
                    answer(true, session)
                }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left connected")
            }),
    ]

    /// Sets a delegate that no other object keeps, and returns it.
    private static func makeDelegate(of session: MCSession, _ app: Application) -> SecondDelegate? {
        weak var weakly: SecondDelegate?
        do {
            let delegate = SecondDelegate(app)
            session.delegate = delegate
            weakly = delegate
        }
        return weakly
    }
}

/// A delegate that records messages, as those that it has received in place of the application.
private final class SecondDelegate: SilentSessionDelegate {
    private let application: Application

    init(_ application: Application) { self.application = application }

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        application.note("the second delegate has received: \(String(decoding: data, as: UTF8.self))")
    }
}
