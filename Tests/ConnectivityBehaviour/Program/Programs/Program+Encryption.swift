import MultipeerConnectivity

extension Program {
    /// Every pair of preferences.
    static let encryption: [Program] = [
        pair(.optional, .optional), pair(.optional, .required), pair(.optional, .none),
        pair(.required, .optional), pair(.required, .required), pair(.required, .none),
        pair(.none, .optional), pair(.none, .required), pair(.none, .none),
    ]

    private static func pair(_ left: MCEncryptionPreference, _ right: MCEncryptionPreference) -> Program {
        let connects = Set([left, right]) != [.required, .none]
        let outcome = connects ? "connects" : "does not connect"
        return Program(
            "encryption.\(word(left))-\(word(right))",
            "A session with `.\(word(left))` \(outcome) to one with `.\(word(right))`.",
            .talk2013,
            left: { app in
                app.session = MCSession(peer: app.peer, securityIdentity: nil, encryptionPreference: left)
                app.session.delegate = app
                if connects {
                    try app.say("hello", to: try await app.connect())
                } else {
                    app.inviteAll()
                    try await app.wait("right notConnected")
                    app.expect(!app.sessionEvents.contains("right connected"), "it was never connected")
                }
            },
            right: { app in
                app.session = MCSession(peer: app.peer, securityIdentity: nil, encryptionPreference: right)
                app.session.delegate = app
                if connects {
                    try await app.connect()
                    try await app.wait("left: hello")
                } else {
                    let session = app.session
                    app.onInvitation = { _, _, answer in answer(true, session) }
                    app.advertiser.startAdvertisingPeer()
                    try await app.wait("left notConnected")
                    app.expect(!app.sessionEvents.contains("left connected"), "it was never connected")
                }
            })
    }

    private static func word(_ preference: MCEncryptionPreference) -> String {
        switch preference {
        case .optional: "optional"
        case .required: "required"
        case .none: "none"
        @unknown default: "\(preference.rawValue)"
        }
    }
}
