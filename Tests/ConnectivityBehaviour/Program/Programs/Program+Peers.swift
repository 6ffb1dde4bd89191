import MultipeerConnectivity

extension Program {
    static let peers: [Program] = [
        Program(
            "peer.same-name", "Two ids that were made with one display name are different peers.",
            .displayName,
            left: { app in
                let twin = try await app.exchangePeers()
                app.expect(twin.displayName, is: "left", "the name of the other one")
                app.expect(twin != app.peer && !twin.isEqual(app.peer), "they differ")
                app.expect(
                    Set([twin, app.peer, MCPeerID(displayName: "left")]).count, is: 3, "the set of three")
            },
            right: { app in
                app.peer = MCPeerID(displayName: "left")
                let twin = try await app.exchangePeers()
                app.expect(twin != app.peer && !twin.isEqual(app.peer), "they differ")
            }),
        Program(
            "peer.archive",
            "An id that is archived and read by another application is equal to the original.",
            .peerID,
            left: { app in
                app.post(
                    "mine",
                    try NSKeyedArchiver.archivedData(withRootObject: app.peer, requiringSecureCoding: true))
                let archive = try await app.posted("yours")
                let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive)
                app.expect(back == app.peer, "what comes back is the same peer")
                app.expect(back?.displayName, is: "left", "its name")
            },
            right: { app in
                let archive = try await app.posted("mine")
                let peer = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive)
                app.expect(peer?.displayName, is: "left", "its name")
                guard let peer else { return }
                app.post(
                    "yours",
                    try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true))
            }),
        Program(
            "peer.archived-list", "Ids can be archived in collections, with secure coding.", .secureCoding,
            left: { app in
                let list = [app.peer, MCPeerID(displayName: "other"), app.peer] as NSArray
                app.expect(MCPeerID.supportsSecureCoding, "the class supports secure coding")
                app.post(
                    "list",
                    try NSKeyedArchiver.archivedData(withRootObject: list, requiringSecureCoding: true))
            },
            right: { app in
                let archive = try await app.posted("list")
                let list = try NSKeyedUnarchiver.unarchivedObject(
                    ofClasses: [NSArray.self, MCPeerID.self], from: archive)
                let peers = list as? [MCPeerID] ?? []
                app.expect(peers.map(\.displayName), is: ["left", "other", "left"], "the names")
                app.expect(Set(peers).count, is: 2, "the number of different peers")
            }),
        Program(
            "peer.hash", "The hash of a peer is the same number in both applications.", .talk2014,
            left: { app in
                let right = try await app.exchangePeers()
                app.post("hashes", Data("\(app.peer.hash) \(right.hash)".utf8))
            },
            right: { app in
                let left = try await app.exchangePeers()
                let hashes = String(decoding: try await app.posted("hashes"), as: UTF8.self)
                app.expect(hashes, is: "\(left.hash) \(app.peer.hash)", "the hashes at the other side")
                app.expect(left.hashValue, is: left.hash, "the hash value")
            }),
        Program(
            "peer.dictionary-key",
            "A peer finds its entry in a dictionary, whichever callback it comes from.", .header("MCPeerID"),
            left: { app in
                let right = try await app.exchangePeers()
                let names = [right: "known"]
                app.onState = { peer, _ in
                    app.expect(names[peer], is: "known", "the entry of a session's peer")
                }
                app.onData = { _, peer in app.expect(names[peer], is: "known", "the entry of a sender") }
                let (browser, session) = (app.browser, app.session)
                app.onFound = { peer, _ in
                    app.expect(names[peer], is: "known", "the entry of a peer that was found")
                    browser.invitePeer(peer, to: session, withContext: nil, timeout: 30)
                }
                browser.startBrowsingForPeers()
                try await app.wait("right connected", "right: hello")
                app.expect(
                    app.session.connectedPeers.first.flatMap { names[$0] }, is: "known",
                    "the entry in the list")
            },
            right: { app in
                let left = try await app.exchangePeers()
                let session = app.session
                app.onInvitation = { peer, _, answer in
                    app.expect(peer == left, "the inviter is the same peer")
                    answer(true, session)
                }
                app.advertiser.startAdvertisingPeer()
                try app.say("hello", to: try await app.connected())
            }),
        Program(
            "peer.copy", "A copy of an id is equal to it, with the same hash.", .copying,
            left: { app in
                let copy = app.peer.copy() as? MCPeerID
                app.expect(copy == app.peer, "the copy is equal")
                app.expect(copy?.hash, is: app.peer.hash, "its hash")
                guard let copy else { return }
                app.peer = copy
                try await app.connect()
            },
            right: { app in
                app.expect(try await app.connect().displayName, is: "left", "the name")
            }),
        Program(
            "peer.longest-name", "A display name of 63 bytes arrives whole.", .displayName,
            left: { app in
                let name = String(repeating: "é", count: 31) + "x"
                _ = try await app.posted("ready")
                app.browser.startBrowsingForPeers()
                try await app.wait("found \(name)")
            },
            right: { app in
                app.peer = MCPeerID(displayName: String(repeating: "é", count: 31) + "x")
                app.expect(app.peer.displayName.utf8.count, is: 63, "the bytes of the name")
                app.advertiser.startAdvertisingPeer()
                app.post("ready")
            }),
        Program(
            "peer.unicode-name",
            "A display name in any script is the same in all callbacks of the other side.", .displayName,
            left: { app in
                let name = "Åsa’s 电话 📱"
                app.inviteAll()
                try await app.wait("found \(name)", "\(name) connected", "\(name): hello")
            },
            right: { app in
                app.peer = MCPeerID(displayName: "Åsa’s 电话 📱")
                try app.say("hello", to: try await app.connect())
            }),
        Program(
            "peer.one-name", "Two peers with one display name connect, and are distinct.", .displayName,
            left: { app in
                app.inviteAll()
                try await app.wait("left connected")
                app.expect(app.session.connectedPeers.count, is: 1, "the number of peers")
                app.expect(app.session.connectedPeers.first != app.peer, "the other one is another one")
            },
            right: { app in
                app.peer = MCPeerID(displayName: "left")
                let other = try await app.connect()
                app.expect(other != app.peer, "the other one is another one")
            }),
        Program(
            "peer.made-again",
            "An id that is made from the name of a peer is not that peer: inviting it fails.", .darkCorners,
            left: { app in
                let right = try await app.find()
                let imitation = MCPeerID(displayName: right.displayName)
                app.expect(imitation != right, "it is another peer")
                app.browser.invitePeer(imitation, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right notConnected")
                app.browser.invitePeer(right, to: app.session, withContext: nil, timeout: 30)
                try await app.wait("right connected")
            },
            right: { app in
                try await app.connect()
                app.expect(app.invitations.count, is: 1, "the number of invitations")
            }),
        Program(
            "peer.restart",
            "An application that crashes and is started again with its archived id is the same peer: an "
                + "invitation that is repeated until it succeeds connects it.",
            .talk2014,
            left: { app in
                let right = try await app.connect()
                let (browser, session) = (app.browser, app.session)
                app.onState = { peer, state in
                    guard state == .notConnected else { return }
                    browser.invitePeer(peer, to: session, withContext: nil, timeout: 30)
                }
                try await app.wait("right: ready")
                try app.say("restart", to: right)
                try await app.wait("right connected", "right: back")
                app.expect(app.session.connectedPeers, is: [right], "the list")
            },
            right: { app in
                let archive = app.folder.appendingPathComponent("peer")
                if app.isRestarted {
                    let data = try Data(contentsOf: archive)
                    guard
                        let peer = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
                    else {
                        throw Failure("there is no peer in the archive")
                    }
                    app.peer = peer
                    try app.say("back", to: try await app.connect())
                } else {
                    let data = try NSKeyedArchiver.archivedData(
                        withRootObject: app.peer, requiringSecureCoding: true)
                    try data.write(to: archive)
                    try app.say("ready", to: try await app.connect())
                    try await app.wait("left: restart")
                    try app.restart()
                }
            }),
    ]
}
