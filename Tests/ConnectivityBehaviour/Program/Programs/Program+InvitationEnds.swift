import MultipeerConnectivity

extension Program {
    static let invitationEnds: [Program] = [
        Program(
            "invitation.again", "A connected peer that is invited again, and accepts, stays connected.",
            .here,
            left: { app in
                let right = try await app.connect()
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.posted("accepted again")
                try app.say("still here", to: right)
                try await app.wait("right: still here")
                app.expect(!app.sessionEvents.contains("right notConnected"), "it was always connected")
            },
            right: { app in
                let left = try await app.connect()
                try await app.wait("invited by left", "invited by left")
                app.post("accepted again")
                try await app.wait("left: still here")
                try app.say("still here", to: left)
                app.expect(app.session.connectedPeers, is: [left], "the peers")
            }),
        Program(
            "invitation.gone", "Inviting a peer that no longer advertises ends with `.notConnected`.",
            .lostPeers,
            left: { app in
                let right = try await app.find()
                app.post("found")
                try await app.wait("lost right")
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right notConnected")
                app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.posted("found")
                app.advertiser.stopAdvertisingPeer()
            }),
        Program(
            "invitation.self", "Inviting the local peer ends with `.notConnected`.", .here,
            left: { app in
                try await app.find()
                app.browser.invitePeer(app.peer, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("left notConnected")
                app.expect(app.sessionEvents, is: ["left notConnected"], "the calls")
            },
            right: { app in app.advertiser.startAdvertisingPeer() }),
        Program(
            "invitation.browser-stopped",
            "A browser may be stopped once it has invited: the invitation goes on.", .stopBrowsing,
            left: { app in
                let right = try await app.find()
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                app.browser.stopBrowsingForPeers()
                try await app.wait("right connected")
            },
            right: { app in try await app.connect() }),
        Program(
            "invitation.advertiser-stopped",
            "An advertiser may be stopped inside its answer: the connection is made.", .hashOrder,
            left: { app in try app.say("hello", to: try await app.connect()) },
            right: { app in
                let (advertiser, session) = (app.advertiser, app.session)
                app.onInvitation = { _, _, answer in
                    answer(true, session)
                    advertiser.stopAdvertisingPeer()
                }
                advertiser.startAdvertisingPeer()
                try await app.wait("left connected", "left: hello")
            }),
        Program(
            "invitation.stopped-before", "An invitation can be accepted after its advertiser was stopped.",
            .stopAdvertising,
            left: { app in
                app.inviteAll()
                try await app.wait("lost right")
                app.post("lost")
                try await app.record.wait(for: "right connected", within: 5)
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.wait("invited by left")
                app.advertiser.stopAdvertisingPeer()
                try await app.posted("lost")
                app.invitations[0].answer(true, app.session)
                try await app.record.wait(for: "left connected", within: 5)
            }),
        Program(
            "invitation.answered-twice", "Of two answers to an invitation the first one counts.", .here,
            left: { app in try app.say("hello", to: try await app.connect()) },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in
                    answer(true, session)
                    answer(false, nil)
                    answer(true, session)
                }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left connected", "left: hello")
            }),
        Program(
            "invitation.from-two", "A peer that accepts two inviters is connected with both in its session.",
            .didReceiveInvitation,
            left: { app in
                app.inviteAll()
                let lea = FurtherPeer("lea", in: app)
                let browser = MCNearbyServiceBrowser(peer: lea.peer, serviceType: app.serviceType)
                let inviter = Inviter(lea.session)
                browser.delegate = inviter
                browser.startBrowsingForPeers()
                try await app.wait("right connected", "lea: right connected")
                try await app.posted("done")
                app.keep(inviter)
            },
            right: { app in
                let session = app.session
                app.onInvitation = { _, _, answer in answer(true, session) }
                app.advertiser.startAdvertisingPeer()
                try await app.wait("left connected", "lea connected")
                app.expect(Set(session.connectedPeers.map(\.displayName)), is: ["left", "lea"], "the peers")
                app.post("done")
            }),
        Program(
            "invitation.foreign-session",
            "A session of another peer is neither invited into, nor accepted with.", .here,
            left: { app in
                let right = try await app.find()
                let other = MCSession(peer: MCPeerID(displayName: "other"))
                other.delegate = app
                app.browser.invitePeer(right, to: other, withContext: nil, timeout: 30)
                try await app.wait("right notConnected")
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right notConnected")
                app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
                app.post("done")
            },
            right: { app in
                let other = MCSession(peer: MCPeerID(displayName: "other"))
                app.onInvitation = { _, _, answer in answer(true, other) }
                app.advertiser.startAdvertisingPeer()
                try await app.posted("done")
                app.expect(app.invitations.count, is: 1, "the invitations")
            }),
        Program(
            "invitation.no-delegate", "An invitation to an advertiser without a delegate is declined.", .here,
            left: { app in
                app.inviteAll()
                try await app.wait("right notConnected")
            },
            right: { app in
                app.advertiser.delegate = nil
                app.advertiser.startAdvertisingPeer()
            }),
        Program(
            "invitation.inviter-leaves",
            "An inviter that disconnects takes its invitation back: accepting it then fails.", .here,
            left: { app in
                app.inviteAll()
                try await app.posted("invited")
                app.session.disconnect()
                try await app.wait("right notConnected")
                app.post("left")
                try await app.posted("answered")
                app.expect(app.session.connectedPeers, is: [], "the peers")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.wait("invited by left")
                app.post("invited")
                try await app.posted("left")
                app.invitations[0].answer(true, app.session)
                try await app.wait("left notConnected")
                app.expect(!app.sessionEvents.contains("left connected"), "it was never connected")
                app.post("answered")
            }),
        Program(
            "advertiser.two", "Two advertisers of one peer, of the same type, can run side by side.",
            .advertiser,
            left: { app in
                try await app.posted("both")
                app.inviteAll()
                try await app.wait("right connected")
            },
            right: { app in
                let second = MCNearbyServiceAdvertiser(
                    peer: app.peer, discoveryInfo: nil, serviceType: app.serviceType)
                second.delegate = app
                app.advertiser.startAdvertisingPeer()
                second.startAdvertisingPeer()
                app.post("both")
                try await app.connect()
                app.expect(
                    !app.record.texts(of: .advertiser).contains { $0.hasPrefix("did not") },
                    "both have started")
            }),
        Program(
            "advertiser.replaced",
            "An advertiser that replaces a running one, which was not stopped but released, starts.",
            .advertiser,
            left: { app in
                app.browser.startBrowsingForPeers()
                for number in 0..<20 { try await app.wait("found \(number)") }
                app.post("done")
            },
            right: { app in
                var advertisers: [MCNearbyServiceAdvertiser] = []
                for number in 0..<20 {
                    app.peer = MCPeerID(displayName: "\(number)")
                    app.advertise(nil)
                    app.advertise(nil)
                    advertisers.append(app.advertiser)
                }
                try await app.posted("done")
                withExtendedLifetime(advertisers) {}
            }),
    ]
}

/// The delegate of a browser that invites every peer that it finds.
private final class Inviter: NSObject, MCNearbyServiceBrowserDelegate {
    private let session: MCSession

    init(_ session: MCSession) { self.session = session }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}
