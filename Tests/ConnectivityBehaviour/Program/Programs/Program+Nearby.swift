import MultipeerConnectivity

// Finding peers.
extension Program {
    static let nearby: [Program] = [
        Program(
            "nearby.found",
            "A peer that advertises is found by a browser for its service type, with its discovery info.",
            .foundPeer,
            left: { app in
                app.onFound = { peer, info in
                    app.expect(peer.displayName, is: "right", "its name")
                    app.expect(info, is: ["room": "kitchen", "level": "3"], "its info")
                }
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
            },
            right: { app in
                app.advertise(["room": "kitchen", "level": "3"])
                app.expect(
                    app.advertiser.discoveryInfo, is: ["room": "kitchen", "level": "3"], "the property")
                app.expect(app.advertiser.serviceType, is: app.serviceType, "the service type")
                app.expect(app.advertiser.myPeerID === app.peer, "the peer is the same object")
            }),
        Program(
            "nearby.browser-first", "It does not matter whether a browser or an advertiser starts first.",
            .browser,
            left: { app in
                app.browser.startBrowsingForPeers()
                app.post("browsing")
                try await app.wait("found right")
            },
            right: { app in
                try await app.posted("browsing")
                app.advertiser.startAdvertisingPeer()
            }),
        Program(
            "nearby.lost", "A peer that stops advertising is lost.", .lostPeer,
            left: { app in
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.post("found")
                try await app.wait("lost right")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.posted("found")
                app.advertiser.stopAdvertisingPeer()
            }),
        Program(
            "nearby.released", "Releasing an advertiser stops it: its peer is lost.", .lostPeer,
            left: { app in
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.post("found")
                try await app.wait("lost right")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.posted("found")
                app.releaseAdvertiser()
            }),
        Program(
            "nearby.found-again", "A peer that stops advertising and starts again is lost and found again.",
            .foundPeer,
            left: { app in
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.post("found")
                try await app.wait("lost right")
                app.post("lost")
                try await app.wait("found right")
                app.expect(
                    app.record.texts(of: .browser), is: ["found right", "lost right", "found right"],
                    "the calls")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.posted("found")
                app.advertiser.stopAdvertisingPeer()
                try await app.posted("lost")
                app.advertiser.startAdvertisingPeer()
            }),
        Program(
            "nearby.started-twice",
            "Starting an advertiser or a browser that runs has no effect: a peer is found once.", .here,
            left: { app in
                app.browser.startBrowsingForPeers()
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.browser.startBrowsingForPeers()
                app.post("found")
                try await app.wait("lost right")
                app.expect(app.record.texts(of: .browser), is: ["found right", "lost right"], "the calls")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                app.advertiser.startAdvertisingPeer()
                try await app.posted("found")
                app.advertiser.startAdvertisingPeer()
                app.advertiser.stopAdvertisingPeer()
            }),
        Program(
            "nearby.not-oneself", "An application that advertises and browses does not find itself.",
            .ghostPeers,
            left: { app in
                app.advertiser.startAdvertisingPeer()
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                try await app.meet("found")
                app.expect(app.record.texts(of: .browser), is: ["found right"], "the calls")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                app.browser.startBrowsingForPeers()
                try await app.wait("found left")
                try await app.meet("found")
                app.expect(app.record.texts(of: .browser), is: ["found left"], "the calls")
            }),
        Program(
            "nearby.two-browsers", "Two browsers of one application each find the peer.", .browser,
            left: { app in
                let second = MCNearbyServiceBrowser(peer: app.peer, serviceType: app.serviceType)
                second.delegate = app
                app.browser.startBrowsingForPeers()
                second.startBrowsingForPeers()
                try await app.wait("found right", "found right")
            },
            right: { app in app.advertiser.startAdvertisingPeer() }),
        Program(
            "nearby.other-type", "A peer that advertises another service type is not found.", .browser,
            left: { app in
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.expect(app.record.texts(of: .browser), is: ["found right"], "the calls")
                app.post("done")
            },
            right: { app in
                let other = MCPeerID(displayName: "other")
                let advertiser = MCNearbyServiceAdvertiser(
                    peer: other, discoveryInfo: nil, serviceType: app.serviceType + "x")
                advertiser.delegate = app
                advertiser.startAdvertisingPeer()
                // It is announced when it is found here.
                let browser = MCNearbyServiceBrowser(peer: app.peer, serviceType: app.serviceType + "x")
                browser.delegate = app
                browser.startBrowsingForPeers()
                try await app.wait("found other")
                app.advertiser.startAdvertisingPeer()
                try await app.posted("done")
                app.keep(advertiser)
            }),
        Program(
            "nearby.upper-case",
            "A service type with capital letters is found under the same type in small letters.", .here,
            left: { app in
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
            },
            right: { app in
                let type = app.serviceType.uppercased()
                app.advertiser = MCNearbyServiceAdvertiser(
                    peer: app.peer, discoveryInfo: nil, serviceType: type)
                app.advertiser.startAdvertisingPeer()
                app.expect(app.advertiser.serviceType, is: type, "the property")
            }),
        Program(
            "nearby.browser-stopped",
            "A browser that was stopped reports nothing; started again it reports every peer again.",
            .stopBrowsing,
            left: { app in
                let second = MCNearbyServiceBrowser(peer: app.peer, serviceType: app.serviceType)
                let record = SecondBrowserDelegate(app)
                second.delegate = record
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.browser.stopBrowsingForPeers()
                second.startBrowsingForPeers()
                try await app.wait("the second browser has found right")
                app.post("stopped")
                try await app.wait("the second browser has lost right")
                app.expect(app.record.texts(of: .browser), is: ["found right"], "the calls of the first")
                app.browser.startBrowsingForPeers()
                app.post("started")
                try await app.wait("found right")
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                try await app.posted("stopped")
                app.advertiser.stopAdvertisingPeer()
                try await app.posted("started")
                app.advertiser.startAdvertisingPeer()
            }),
        Program(
            "nearby.no-call-before",
            "Nothing is reported before the call that starts a browser has returned.", .here,
            left: { app in
                try await app.posted("advertising")
                @Guarded var hasReturned = false
                app.onFound = { [$hasReturned] _, _ in
                    app.expect($hasReturned.wrappedValue, "the call has returned")
                }
                for _ in 0..<20 {
                    hasReturned = false
                    app.browser.startBrowsingForPeers()
                    hasReturned = true
                    try await app.wait("found right")
                    app.browser.stopBrowsingForPeers()
                }
            },
            right: { app in
                app.advertiser.startAdvertisingPeer()
                app.post("advertising")
            }),
        Program(
            "nearby.does-not-start",
            "When no network is usable, the delegates are notified that nothing was started.",
            .didNotAdvertise,
            left: { app in
                setenv("MULTIPEER_INTERFACES", "no-such-link", 1)
                app.browser.startBrowsingForPeers()
                try await app.wait("did not browse: unavailable")
            },
            right: { app in
                setenv("MULTIPEER_INTERFACES", "no-such-link", 1)
                app.advertiser.startAdvertisingPeer()
                try await app.wait("did not advertise: unavailable")
            }),
        Program(
            "nearby.crash", "A peer that crashes and advertises again is lost and found again.", .registering,
            left: { app in
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
                app.post("found")
                try await app.posted("restarted")
                try await app.record.wait(for: "lost right", within: 5)
                try await app.record.wait(for: "found right", within: 5)
                app.expect(
                    app.record.texts(of: .browser), is: ["found right", "lost right", "found right"],
                    "the calls")
            },
            right: { app in
                let archive = app.folder.appendingPathComponent("peer")
                if app.isRestarted {
                    let data = try Data(contentsOf: archive)
                    let peer = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
                    app.peer = peer ?? app.peer
                    app.advertiser.startAdvertisingPeer()
                    app.post("restarted")
                } else {
                    let data = try NSKeyedArchiver.archivedData(
                        withRootObject: app.peer, requiringSecureCoding: true)
                    try data.write(to: archive)
                    app.advertiser.startAdvertisingPeer()
                    try await app.posted("found")
                    try app.restart()
                }
            }),
    ]
}
