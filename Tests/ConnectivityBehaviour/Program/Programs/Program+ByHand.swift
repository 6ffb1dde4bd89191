import MultipeerConnectivity

// Sessions that are connected without a browser and an advertiser.
extension Program {
    static let byHand: [Program] = [
        Program(
            "hand.connect",
            "Two peers that exchange their ids and connection data by their own means, and both connect, "
                + "are connected.",
            .connectPeer,
            left: { app in try app.say("hello", to: try await app.connectByHand()) },
            right: { app in
                try await app.connectByHand()
                try await app.wait("left: hello")
            }),
        Program(
            "hand.completion-handler", "Connection data is passed to a completion handler, without an error.",
            .connectionData,
            left: { app in
                let right = try await app.exchangePeers()
                app.session.nearbyConnectionData(forPeer: right) { data, error in
                    app.expect(error == nil, "there is no error")
                    app.post("data", data ?? Data())
                }
                app.session.connectPeer(right, withNearbyConnectionData: try await app.posted("data"))
                _ = try await app.connected()
            },
            right: { app in try await app.connectByHand() }),
        Program(
            "hand.states", "Peers that are connected by hand are connecting first, and then connected.",
            .didChange,
            left: { app in
                try app.say("hello", to: try await app.connectByHand())
                try await app.wait("right: hello")
                let states = app.eventsWithoutCertificates
                app.expect(states, is: ["right connecting", "right connected", "right: hello"], "the calls")
            },
            right: { app in
                try app.say("hello", to: try await app.connectByHand())
                try await app.wait("left: hello")
                let states = app.eventsWithoutCertificates
                app.expect(states, is: ["left connecting", "left connected", "left: hello"], "the calls")
            }),
        Program(
            "hand.one-side-first",
            "It does not matter which side connects first, as long as the other one follows.",
            .connectPeer,
            left: { app in
                let right = try await app.exchangePeers()
                app.post("data", try await app.session.nearbyConnectionData(forPeer: right))
                app.session.connectPeer(right, withNearbyConnectionData: try await app.posted("data"))
                try await app.wait("right connecting")
                app.post("connecting")
                _ = try await app.connected()
            },
            right: { app in
                let left = try await app.exchangePeers()
                app.post("data", try await app.session.nearbyConnectionData(forPeer: left))
                let data = try await app.posted("data")
                try await app.posted("connecting")
                app.session.connectPeer(left, withNearbyConnectionData: data)
                _ = try await app.connected()
            }),
        Program(
            "hand.cancel", "A connection attempt that is cancelled ends with `.notConnected`.",
            .cancelConnect,
            left: { app in
                let right = try await app.exchangePeers()
                app.session.connectPeer(right, withNearbyConnectionData: try await app.posted("data"))
                try await app.wait("right connecting")
                app.session.cancelConnectPeer(right)
                try await app.wait("right notConnected")
                app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
            },
            right: { app in
                let left = try await app.exchangePeers()
                app.post("data", try await app.session.nearbyConnectionData(forPeer: left))
            }),
        Program(
            "hand.unused-data",
            "An application that has obtained connection data and does not connect may cancel that.",
            .cancelConnect,
            left: { app in
                let right = try await app.exchangePeers()
                _ = try await app.session.nearbyConnectionData(forPeer: right)
                app.session.cancelConnectPeer(right)
                try await app.connectByHand(to: right)
            },
            right: { app in try await app.connectByHand() }),
        Program(
            "hand.garbage", "Data that is not connection data ends with `.notConnected`, and does no harm.",
            .here,
            left: { app in
                let right = try await app.exchangePeers()
                for data in [Data(), Data("garbage".utf8), Application.bytes(100_000)] {
                    app.session.connectPeer(right, withNearbyConnectionData: data)
                    try await app.wait("right notConnected")
                }
                try await app.connectByHand(to: right)
            },
            right: { app in try await app.connectByHand() }),
        Program(
            "hand.foreign-data",
            "Connection data belongs to one peer: connecting to another one with it ends with "
                + "`.notConnected`.",
            .connectionData,
            left: { app in
                let right = try await app.exchangePeers()
                let other = MCSession(peer: MCPeerID(displayName: "other"))
                let foreign = try await other.nearbyConnectionData(forPeer: app.peer)
                app.session.connectPeer(right, withNearbyConnectionData: foreign)
                try await app.wait("right notConnected")
                try await app.connectByHand(to: right)
            },
            right: { app in try await app.connectByHand() }),
        Program(
            "hand.each-its-own", "Connection data has to be made for each peer: that for two peers differs.",
            .connectionData,
            left: { app in
                let right = try await app.exchangePeers()
                let one = try await app.session.nearbyConnectionData(forPeer: right)
                let other = try await app.session.nearbyConnectionData(
                    forPeer: MCPeerID(displayName: "other"))
                app.expect(one != other, "they differ")
                app.post("data", one)
                app.session.connectPeer(right, withNearbyConnectionData: try await app.posted("data"))
                _ = try await app.connected()
            },
            right: { app in try await app.connectByHand() }),
        Program(
            "hand.self", "There is no connection data for the local peer.", .here,
            left: { app in
                do {
                    _ = try await app.session.nearbyConnectionData(forPeer: app.peer)
                    app.fail("no error")
                } catch {
                    app.expect(codeName(of: error), is: "invalidParameter", "the error")
                }
                try await app.connectByHand()
            },
            right: { app in try await app.connectByHand() }),
        Program(
            "hand.again", "Peers that were connected by hand connect again with new data after a disconnect.",
            .connectPeer,
            left: { app in
                let right = try await app.connectByHand()
                app.session.disconnect()
                try await app.wait("right notConnected")
                app.post("new", try await app.session.nearbyConnectionData(forPeer: right))
                app.session.connectPeer(right, withNearbyConnectionData: try await app.posted("new"))
                try await app.wait("right connected")
                try app.say("again", to: right)
            },
            right: { app in
                let left = try await app.connectByHand()
                try await app.wait("left notConnected")
                app.post("new", try await app.session.nearbyConnectionData(forPeer: left))
                app.session.connectPeer(left, withNearbyConnectionData: try await app.posted("new"))
                try await app.wait("left connected", "left: again")
            }),
        Program(
            "hand.cancel-connected",
            "Cancelling the connection of a peer that is connected leaves it connected.", .here,
            left: { app in
                let right = try await app.connectByHand()
                app.session.cancelConnectPeer(right)
                try app.say("still here", to: right)
                try await app.wait("right: still here")
                app.expect(app.session.connectedPeers, is: [right], "the peers")
            },
            right: { app in
                let left = try await app.connectByHand()
                try await app.wait("left: still here")
                try app.say("still here", to: left)
            }),
    ]
}
