import MultipeerConnectivity

extension Program {
    static let invitations: [Program] = [
        context(
            "context.data", "The context of an invitation arrives as it was sent.", .invitePeer,
            Data("room 7".utf8)),
        context(
            "context.none", "The context of an invitation without one is nil.", .didReceiveInvitation, nil),
        context("context.empty", "An empty context arrives as empty data.", .here, Data()),
        context("context.large", "A context of 32 KiB arrives whole.", .here, Application.bytes(32_768)),
        Program(
            "context.too-large",
            "A context of more than 32 KiB does no harm: it arrives, or the invitation fails.", .invitePeer,
            left: { app in
                let right = try await app.find()
                app.onState = { _, state in if state != .connecting { app.note("over") } }
                app.browser.invitePeer(
                    right, to: app.session, withContext: Application.bytes(32_769), timeout: 30)
                try await app.wait("over")
                app.post("over")
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, context, answer in
                    app.expect(context == Application.bytes(32_769), "it arrives whole if it does")
                    answer(true, session)
                }
                app.advertiser.startAdvertisingPeer()
                try await app.posted("over")
            }),
        Program(
            "invitation.accept", "An invitation that is accepted connects the two in their sessions.",
            .didReceiveInvitation,
            left: { app in
                let right = try await app.find()
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right connecting", "right connected")
                app.expect(app.session.connectedPeers, is: [right], "the peers")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.wait("invited by left")
                app.invitations.first?.answer(true, app.session)
                try await app.wait("left connecting", "left connected")
                app.expect(app.session.connectedPeers, is: app.invitations.map(\.peer), "the peers")
            }),
        Program(
            "invitation.decline", "An invitation that is declined is `.notConnected` for the inviter, once.",
            .didReceiveInvitation,
            left: { app in
                let right = try await app.find()
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right notConnected")
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right connected")
                let states = app.sessionEvents.filter {
                    !$0.hasPrefix("certificate") && $0 != "right connecting"
                }
                app.expect(states, is: ["right notConnected", "right connected"], "the calls")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.wait("invited by left")
                app.invitations[0].answer(false, app.session)
                try await app.wait("invited by left")
                app.invitations[1].answer(true, app.session)
                try await app.wait("left connected")
            }),
        Program(
            "invitation.no-session", "Accepting without a session declines.", .here,
            left: { app in
                app.inviteAll()
                try await app.wait("right notConnected")
                app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
            },
            right: { app in
                app.onInvitation = { _, _, answer in answer(true, nil) }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("invited by left")
            }),
        Program(
            "invitation.later", "An invitation may be answered later, from another queue.", .talk2013,
            left: { app in
                app.inviteAll()
                try await app.wait("right connected")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.wait("invited by left")
                let (invitation, session) = (app.invitations[0], app.session)
                DispatchQueue.global().async { invitation.answer(true, session) }
                try await app.wait("left connected")
            }),
        Program(
            "invitation.timeout",
            "Without an answer an invitation ends with its timeout: the inviter receives `.notConnected`.",
            .invitePeer,
            left: { app in
                let right = try await app.find()
                let start = Date()
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 1)
                try await app.wait("right notConnected")
                app.expect(Date().timeIntervalSince(start) > 0.9, "the timeout has passed")
                app.post("over")
                try await app.posted("answered")
                app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.wait("invited by left")
                try await app.posted("over")
                app.invitations[0].answer(true, app.session)
                try await app.wait("left notConnected")
                app.expect(app.session.connectedPeers, is: [], "the peers")
                app.post("answered")
            }),
        Program(
            "invitation.default-timeout",
            "A timeout of zero or less stands for the default, not for no time.", .invitePeer,
            left: { app in
                let right = try await app.find()
                for timeout in [0.0, -5] {
                    app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: timeout)
                    try await app.wait("right connected")
                    app.session.disconnect()
                    try await app.wait("right notConnected")
                    try await app.posted("alone")
                }
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                for number in 0..<2 {
                    try await app.wait("invited by left")
                    // After a trip to the other queue and back, which takes more than no time.
                    _ = try await app.session.nearbyConnectionData(forPeer: MCPeerID(displayName: "other"))
                    app.invitations[number].answer(true, app.session)
                    try await app.wait("left connected", "left notConnected")
                    app.post("alone")
                }
            }),
        Program(
            "invitation.both",
            "Two peers that invite each other at the same time are connected once, without a "
                + "`.notConnected`.",
            .fennema,
            left: { app in try await inviteEachOther(app) },
            right: { app in try await inviteEachOther(app) }),
        Program(
            "invitation.by-hash", "Peers that compare their hashes agree which of them invites.", .hashOrder,
            left: { app in try await inviteByHash(app) },
            right: { app in try await inviteByHash(app) }),
        Program(
            "invitation.same-peer",
            "The peer of an invitation is the one that the browser and the session report.", .peerID,
            left: { app in
                let right = try await app.connect()
                app.post("hash", Data("\(app.peer.hash) \(right.hash)".utf8))
            },
            right: { app in
                let left = try await app.connect()
                let hashes = String(decoding: try await app.posted("hash"), as: UTF8.self)
                app.expect(app.invitations.first?.peer == left, "the inviter is the connected peer")
                app.expect(hashes, is: "\(left.hash) \(app.peer.hash)", "the hashes at the other side")
            }),
    ]

    /// A program in which the context that arrives is the one that was sent.
    private static func context(
        _ id: String, _ statement: String, _ source: Source,
        _ context: @autoclosure @escaping @Sendable () -> Data?
    )
        -> Program
    {
        Program(
            id, statement, source,
            left: { app in
                let right = try await app.find()
                app.browser.invitePeer(right, to: app.session, withContext: context(), timeout: 30)
                try await app.wait("right connected")
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, received, answer in
                    app.expect(received == context(), "the context is what was sent")
                    answer(true, session)
                }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left connected")
            })
    }

    @MainActor
    private static func inviteEachOther(_ app: Application) async throws {
        let other = app.role.other.rawValue
        let session = app.session
        app.onInvitation = { _, _, answer in answer(true, session) }
        app.advertiser.startAdvertisingPeer()
        app.inviteAll()
        try await app.wait("\(other) connected")
        // Both invitations are over when both have asked.
        try await app.wait("invited by \(other)")
        try app.say("hello", to: session.connectedPeers[0])
        try await app.wait("\(other): hello")
        let states = app.sessionEvents.filter { $0.hasSuffix("onnected") }
        app.expect(states, is: ["\(other) connected"], "the calls")
        try await app.meet("done")
    }

    @MainActor
    private static func inviteByHash(_ app: Application) async throws {
        let (browser, session, peer) = (app.browser, app.session, app.peer)
        app.onInvitation = { _, _, answer in answer(true, session) }
        app.onFound = { other, _ in
            guard peer.hash > other.hash else { return }
            app.note("inviting")
            browser.invitePeer(other, to: session, withContext: nil, timeout: 30)
        }
        app.advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
        let other = try await app.connected()
        try await app.meet("done")
        let invites = app.record.texts(of: .program).contains("inviting")
        app.expect(invites, is: peer.hash > other.hash, "whether this one invites")
        app.expect(app.invitations.count, is: invites ? 0 : 1, "the invitations")
    }
}
