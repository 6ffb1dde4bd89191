import MultipeerConnectivity

extension Program {
    static let sendErrors: [Program] = [
        Program(
            "send.no-peers", "Sending to no peers is an error of the parameter.", .here,
            left: { app in
                try await app.connect()
                app.expect(.invalidParameter, "sending to no peers") {
                    try app.session.send(Data([1]), toPeers: [], with: .reliable)
                }
            },
            right: { app in try await app.connect() }),
        Program(
            "send.unconnected", "Sending to a peer that is not connected is the error `.notConnected`.",
            .errorCode,
            left: { app in
                let right = try await app.find()
                app.expect(.notConnected, "sending to a peer that was only found") {
                    try app.session.send(Data([1]), toPeers: [right], with: .reliable)
                }
                app.expect(.notConnected, "and unreliably") {
                    try app.session.send(Data([1]), toPeers: [right], with: .unreliable)
                }
            },
            right: { app in app.advertiser.startAdvertisingPeer() }),
        Program(
            "send.self", "The local peer is not connected to itself.", .errorCode,
            left: { app in
                try await app.connect()
                app.expect(.notConnected, "sending to oneself") {
                    try app.session.send(Data([1]), toPeers: [app.peer], with: .reliable)
                }
            },
            right: { app in try await app.connect() }),
        Program(
            "send.some", "When one of several peers is not connected nothing is sent to the others.", .here,
            left: { app in
                let right = try await app.connect()
                app.expect(.notConnected, "sending to another peer, too") {
                    try app.session.send(
                        Data("no".utf8), toPeers: [right, MCPeerID(displayName: "other")], with: .reliable)
                }
                try app.say("after", to: right)
            },
            right: { app in
                try await app.connect()
                try await app.wait("left: after")
                app.expect(app.messages, is: [Data("after".utf8)], "the messages")
            }),
        Program(
            "send.connecting", "Sending to a peer that is connecting is the error `.notConnected`.",
            .darkCorners,
            left: { app in
                let session = app.session
                app.onState = { peer, state in
                    guard state == .connecting else { return }
                    app.expect(.notConnected, "sending in the call") {
                        try session.send(Data([1]), toPeers: [peer], with: .reliable)
                    }
                }
                try await app.connect()
            },
            right: { app in
                try await app.connect()
                app.expect(app.messages, is: [], "the messages")
            }),
        Program(
            "send.after-disconnect",
            "After a disconnect, sending is the error `.notConnected` on both sides.", .errorCode,
            left: { app in
                let right = try await app.connect()
                app.session.disconnect()
                app.expect(.notConnected, "sending") { try app.say("late", to: right) }
            },
            right: { app in
                let left = try await app.connect()
                try await app.wait("left notConnected")
                app.expect(.notConnected, "sending") { try app.say("late", to: left) }
            }),
        Program(
            "send.error",
            "An error is caught as `MCError`, has the domain of the framework, and a description.",
            .errorCode,
            left: { app in
                try await app.connect()
                do {
                    try app.session.send(
                        Data([1]), toPeers: [MCPeerID(displayName: "other")], with: .reliable)
                    app.fail("no error")
                } catch MCError.notConnected {
                    app.note("caught by its code")
                }
                do {
                    try app.session.send(
                        Data([1]), toPeers: [MCPeerID(displayName: "other")], with: .reliable)
                } catch {
                    let error = error as NSError
                    app.expect(error.domain, is: MCErrorDomain, "the domain")
                    app.expect(error.code, is: MCError.Code.notConnected.rawValue, "the code")
                    app.expect(!error.localizedDescription.isEmpty, "it has a description")
                }
            },
            right: { app in try await app.connect() }),
        Program(
            "send.codes",
            "The codes of errors, the states, modes and preferences have the values of Apple's header.",
            .header("MCError"),
            left: { app in
                let codes: [MCError.Code] = [
                    .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled,
                    .unavailable,
                ]
                app.expect(codes.map(\.rawValue), is: Array(0...6), "the codes")
                let states: [MCSessionState] = [.notConnected, .connecting, .connected]
                app.expect(states.map(\.rawValue), is: [0, 1, 2], "the states")
                app.post("state", Data("\(MCSessionState.connected.rawValue)".utf8))
            },
            right: { app in
                let modes: [MCSessionSendDataMode] = [.reliable, .unreliable]
                app.expect(modes.map(\.rawValue), is: [0, 1], "the modes")
                let preferences: [MCEncryptionPreference] = [.optional, .required, .none]
                app.expect(preferences.map(\.rawValue), is: [0, 1, 2], "the preferences")
                app.expect(kMCSessionMinimumNumberOfPeers, is: 2, "the minimum")
                app.expect(kMCSessionMaximumNumberOfPeers, is: 8, "the maximum")
                let state = String(decoding: try await app.posted("state"), as: UTF8.self)
                app.expect(Int(state).flatMap { MCSessionState(rawValue: $0) }, is: .connected, "the state")
            }),
        Program(
            "send.stream-unconnected",
            "A stream to a peer that is not connected is the error `.notConnected`.", .startStream,
            left: { app in
                let right = try await app.find()
                app.expect(.notConnected, "opening a stream") {
                    try app.session.startStream(withName: "early", toPeer: right)
                }
            },
            right: { app in app.advertiser.startAdvertisingPeer() }),
    ]
}
