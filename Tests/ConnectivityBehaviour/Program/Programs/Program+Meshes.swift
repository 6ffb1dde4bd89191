import MultipeerConnectivity

// Sessions of more than two peers; those beyond two are in the process of the right application.
extension Program {
    static let meshes: [Program] = [
        Program(
            "mesh.three", "Peers that one peer invites into its session are connected with each other.",
            .talk2013,
            left: { app in
                app.inviteAll()
                try await app.wait("anna connected", "otto connected")
                app.expect(
                    Set(app.session.connectedPeers.map(\.displayName)), is: ["anna", "otto"], "the peers")
                try await app.posted("done")
            },
            right: { app in
                let (anna, otto) = (FurtherPeer("anna", in: app), FurtherPeer("otto", in: app))
                anna.advertiser.startAdvertisingPeer()
                otto.advertiser.startAdvertisingPeer()
                try await app.wait("anna: left connected", "otto: left connected")
                try await app.wait("anna: otto connected", "otto: anna connected")
                try anna.session.send(Data("hello".utf8), toPeers: [otto.peer], with: .reliable)
                try await app.wait("otto: anna says hello")
                app.post("done")
            }),
        Program(
            "mesh.to-several", "A message to several peers arrives at each of them, once.", .send,
            left: { app in
                app.inviteAll()
                try await app.wait("anna connected", "otto connected")
                try app.session.send(Data("all".utf8), toPeers: app.session.connectedPeers, with: .reliable)
                try app.session.send(Data("after".utf8), toPeers: app.session.connectedPeers, with: .reliable)
                try await app.posted("done")
            },
            right: { app in
                let (anna, otto) = (FurtherPeer("anna", in: app), FurtherPeer("otto", in: app))
                anna.advertiser.startAdvertisingPeer()
                otto.advertiser.startAdvertisingPeer()
                try await app.wait("anna: left says all", "otto: left says all")
                try await app.wait("anna: left says after", "otto: left says after")
                let received = app.record.texts(of: .program).filter { $0.hasSuffix("says all") }
                app.expect(received.count, is: 2, "how often it arrived")
                app.post("done")
            }),
        Program(
            "mesh.to-one", "A message to one of several peers arrives at that one only.", .send,
            left: { app in
                app.inviteAll()
                try await app.wait("anna connected", "otto connected")
                let anna = app.session.connectedPeers.filter { $0.displayName == "anna" }
                try app.session.send(Data("secret".utf8), toPeers: anna, with: .reliable)
                try app.session.send(Data("after".utf8), toPeers: app.session.connectedPeers, with: .reliable)
                try await app.posted("done")
            },
            right: { app in
                let (anna, otto) = (FurtherPeer("anna", in: app), FurtherPeer("otto", in: app))
                anna.advertiser.startAdvertisingPeer()
                otto.advertiser.startAdvertisingPeer()
                try await app.wait("anna: left says secret", "anna: left says after", "otto: left says after")
                app.expect(
                    !app.record.texts(of: .program).contains("otto: left says secret"),
                    "otto has not received it")
                app.post("done")
            }),
        Program(
            "mesh.one-leaves", "When one of three peers disconnects, the other two stay connected.",
            .disconnect,
            left: { app in
                app.inviteAll()
                try await app.wait("anna connected", "otto connected")
                try await app.posted("all")
                app.session.disconnect()
                try await app.posted("done")
            },
            right: { app in
                let (anna, otto) = (FurtherPeer("anna", in: app), FurtherPeer("otto", in: app))
                anna.advertiser.startAdvertisingPeer()
                otto.advertiser.startAdvertisingPeer()
                try await app.wait("anna: left connected", "otto: left connected")
                try await app.wait("anna: otto connected", "otto: anna connected")
                app.post("all")
                try await app.wait("anna: left notConnected", "otto: left notConnected")
                try otto.session.send(Data("still here".utf8), toPeers: [anna.peer], with: .reliable)
                try await app.wait("anna: otto says still here")
                app.expect(anna.session.connectedPeers, is: [otto.peer], "the peers of anna")
                app.post("done")
            }),
        Program(
            "mesh.joined-by-a-guest",
            "A peer that is invited by a guest of the session is connected with its host, too.",
            .talk2013,
            left: { app in
                try await app.connect()
                try await app.wait("otto connected")
                try app.session.send(
                    Data("welcome".utf8), toPeers: app.session.connectedPeers, with: .reliable)
                try await app.posted("done")
            },
            right: { app in
                try await app.connect()
                let otto = FurtherPeer("otto", in: app)
                otto.advertiser.startAdvertisingPeer()
                app.inviteAll()
                try await app.wait("otto: left connected", "otto: left says welcome")
                app.post("done")
            }),
        Program(
            "mesh.two-sessions",
            "Two sessions of one application are independent: each has its own peer, and its own messages.",
            .talk2013,
            left: { app in
                app.inviteAll()
                try await app.wait("anna connected")
                let second = FurtherPeer("lea", in: app)
                let browser = MCNearbyServiceBrowser(peer: second.peer, serviceType: app.serviceType + "2")
                browser.delegate = app
                app.onFound = { peer, _ in
                    browser.invitePeer(peer, to: second.session, withContext: nil, timeout: 30)
                }
                browser.startBrowsingForPeers()
                try await app.wait("lea: otto connected")
                app.expect(
                    app.session.connectedPeers.map(\.displayName), is: ["anna"], "the peers of the first")
                app.expect(
                    second.session.connectedPeers.map(\.displayName), is: ["otto"], "the peers of the second")
                app.session.disconnect()
                try second.session.send(
                    Data("hello".utf8), toPeers: second.session.connectedPeers, with: .reliable)
                try await app.posted("done")
            },
            right: { app in
                let (anna, otto) = (FurtherPeer("anna", in: app), FurtherPeer("otto", in: app))
                anna.advertiser.startAdvertisingPeer()
                let advertiser = MCNearbyServiceAdvertiser(
                    peer: otto.peer, discoveryInfo: nil, serviceType: app.serviceType + "2")
                advertiser.delegate = otto
                advertiser.startAdvertisingPeer()
                try await app.wait("anna: left notConnected", "otto: lea says hello")
                app.post("done")
            }),
        Program(
            "mesh.eight", "A session has room for eight peers: a ninth is not connected, and the eight stay.",
            .session,
            left: { app in
                app.inviteAll()
                for number in 2...8 { try await app.wait("\(number) connected") }
                app.post("eight")
                try await app.wait("found 9", "9 notConnected")
                app.expect(app.session.connectedPeers.count, is: 7, "the other peers")
                app.expect(
                    !app.sessionEvents.contains { $0.hasSuffix(" notConnected") && $0 != "9 notConnected" },
                    "all stay")
                try app.session.send(Data("hello".utf8), toPeers: app.session.connectedPeers, with: .reliable)
                try await app.posted("done")
            },
            right: { app in
                for number in 2...8 {
                    FurtherPeer("\(number)", in: app).advertiser.startAdvertisingPeer()
                }
                try await app.posted("eight")
                FurtherPeer("9", in: app).advertiser.startAdvertisingPeer()
                for number in 2...8 { try await app.wait("\(number): left says hello") }
                app.post("done")
            }),
    ]
}
