import MultipeerConnectivity

extension Program {
    static let sessions: [Program] = [
        Program(
            "session.defaults",
            "A session made with a peer alone has no identity, requires encryption, and has no peers.",
            .bindingTests,
            left: { app in
                let session = MCSession(peer: app.peer)
                app.expect(session.myPeerID === app.peer, "the peer is the same object")
                app.expect(session.securityIdentity == nil, "there is no identity")
                app.expect(session.encryptionPreference, is: .required, "the preference")
                app.expect(session.connectedPeers, is: [], "the peers")
                app.expect(session.delegate == nil, "there is no delegate")
                try await app.connect()
            },
            right: { app in
                app.session = MCSession(
                    peer: app.peer, securityIdentity: nil, encryptionPreference: .required)
                app.session.delegate = app
                try await app.connect()
            }),
        Program(
            "session.properties",
            "A session has the identity and the preference with which it was made, also while connected.",
            .sessionFullInit,
            left: { app in
                let identity = try MCIdentity.generate(commonName: "left")
                app.session = MCSession(
                    peer: app.peer, securityIdentity: [identity], encryptionPreference: .optional)
                app.session.delegate = app
                try await app.connect()
                app.expect(app.session.securityIdentity?.count, is: 1, "the elements of the identity")
                app.expect(app.session.encryptionPreference, is: .optional, "the preference")
                app.expect(app.session.myPeerID === app.peer, "the peer is the same object")
            },
            right: { app in
                try await app.connect()
                app.expect(app.session.securityIdentity == nil, "there is no identity")
            }),
        Program(
            "session.states",
            "Both applications are notified that the other peer is connecting, and then that it is "
                + "connected.",
            .connectingFirst,
            left: { app in
                try app.say("hello", to: try await app.connect())
                try await app.wait("right: hello")
                let states = app.eventsWithoutCertificates
                app.expect(states, is: ["right connecting", "right connected", "right: hello"], "the calls")
            },
            right: { app in
                try app.say("hello", to: try await app.connect())
                try await app.wait("left: hello")
                let states = app.eventsWithoutCertificates
                app.expect(states, is: ["left connecting", "left connected", "left: hello"], "the calls")
            }),
        Program(
            "session.list-in-callback",
            "A peer is in the list of connected peers when `.connected` is reported, and not when "
                + "`.notConnected` is.",
            .connectedPeers,
            left: { app in
                let session = app.session
                app.onState = { peer, state in
                    app.expect(
                        session.connectedPeers.contains(peer), is: state == .connected, "listed at \(state)")
                }
                try await app.connect()
                try await app.wait("right notConnected")
            },
            right: { app in
                let session = app.session
                app.onState = { peer, state in
                    app.expect(
                        session.connectedPeers.contains(peer), is: state == .connected, "listed at \(state)")
                }
                let left = try await app.connect()
                app.expect(app.session.connectedPeers, is: [left], "the local peer is not in the list, which")
                app.session.disconnect()
                try await app.wait("left notConnected")
            }),
        Program(
            "session.disconnect",
            "A peer that disconnects is `.notConnected` for the other one, which stays in its session.",
            .disconnect,
            left: { app in
                try await app.connect()
                app.session.disconnect()
                app.expect(app.session.connectedPeers, is: [], "the list after disconnect()")
            },
            right: { app in
                try await app.connect()
                try await app.wait("left notConnected")
                app.expect(app.session.connectedPeers, is: [], "the list")
            }),
        Program(
            "session.disconnect-own",
            "The delegate of a session that disconnects receives `.notConnected` for each of its "
                + "peers.", .here,
            left: { app in
                try await app.connect()
                app.session.disconnect()
                try await app.wait("right notConnected")
                app.session.disconnect()
            },
            right: { app in
                try await app.connect()
                try await app.wait("left notConnected")
            }),
        Program(
            "session.disconnect-in-callback",
            "A session may disconnect inside the call that reports the connection.",
            .sessionDelegate,
            left: { app in
                let session = app.session
                app.onState = { _, state in if state == .connected { session.disconnect() } }
                app.inviteAll()
                try await app.wait("right connected", "right notConnected")
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in answer(true, session) }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left notConnected")
            }),
        Program(
            "session.again", "Two sessions that were disconnected connect again, and messages pass.",
            .reconnecting,
            left: { app in
                let right = try await app.connect()
                app.session.disconnect()
                try await app.wait("right notConnected")
                try await app.posted("alone")
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right connected")
                try app.say("again", to: right)
                try await app.posted("done")
            },
            right: { app in
                try await app.connect()
                try await app.wait("left notConnected")
                app.post("alone")
                try await app.wait("left connected", "left: again")
                app.post("done")
            }),
        Program(
            "session.again-new",
            "A peer connects again with a new session in place of the one that it released.",
            .reconnecting,
            left: { app in
                let right = try await app.connect()
                app.onFound = nil
                app.releaseSession()
                try await app.posted("alone")
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right connected")
                try app.say("again", to: right)
                try await app.posted("done")
            },
            right: { app in
                try await app.connect()
                try await app.wait("left notConnected")
                app.post("alone")
                try await app.wait("left connected", "left: again")
                app.post("done")
            }),
        Program(
            "session.released",
            "A session that is released disconnects: the other side receives "
                + "`.notConnected`.", .here,
            left: { app in
                try await app.connect()
                weak let session = app.session
                app.releaseAll()
                app.onFound = nil
                try await app.posted("noticed")
                app.expect(session == nil, "the session is gone")
            },
            right: { app in
                try await app.connect()
                try await app.wait("left notConnected")
                app.post("noticed")
            }),
        Program(
            "session.crash", "A peer whose process ends without a goodbye is `.notConnected`.", .sessionState,
            left: { app in
                let right = try await app.connect()
                try app.say("hello", to: right)
                try await app.wait("right: hello")
                app.crash()
            },
            right: { app in
                let left = try await app.connect()
                try await app.wait("left: hello")
                try app.say("hello", to: left)
                try await app.wait("left notConnected")
            }),
        Program(
            "session.crash-at-once",
            "A peer whose process ends the moment it is connected is `.notConnected` soon, and not "
                + "connecting any longer.",
            .sessionState,
            left: { app in
                try await app.connect()
                app.post("crashing")
                app.crash()
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in answer(true, session) }
                app.advertiser.startAdvertisingPeer()
                try await app.posted("crashing")
                try await app.record.wait(for: "left notConnected", within: 5)
                // Its handler is called after what has happened until now.
                _ = try await session.nearbyConnectionData(forPeer: MCPeerID(displayName: "other"))
                let states = app.eventsWithoutCertificates
                app.expect(states.last, is: "left notConnected", "the last state")
            }),
    ]
}
