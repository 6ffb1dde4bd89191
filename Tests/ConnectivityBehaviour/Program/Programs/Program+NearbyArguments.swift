import MultipeerConnectivity

// Discovery info and service types, allowed and not allowed.
extension Program {
    static let nearbyArguments: [Program] = [
        info("info.none", "A peer that advertises no discovery info is found without any.", .foundPeer, nil),
        Program(
            "info.empty", "An empty dictionary as discovery info counts as none.", .here,
            left: { app in
                app.onFound = { _, info in app.expect((info ?? [:]).isEmpty, "there is no info") }
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
            },
            right: { app in app.advertise([:]) }),
        info(
            "info.values", "Values may be empty, contain `=` and any script.", .advertiserInit,
            ["empty": "", "sum": "1=1", "name": "Åsa’s 电话 📱", "spaced": " a b "]),
        info(
            "info.longest", "A key and its value may have 255 bytes with the `=` between them.",
            .advertiserInit,
            ["k": String(repeating: "v", count: 253)]),
        info(
            "info.400-bytes", "Discovery info of 400 bytes arrives whole.", .advertiserInit,
            [
                "a": String(repeating: "1", count: 190), "b": String(repeating: "2", count: 190),
                "c": "34567890",
            ]),
        info(
            "info.two-long", "Two entries of 200 bytes each arrive whole.", .advertiserInit,
            ["a": String(repeating: "v", count: 198), "b": String(repeating: "v", count: 198)]),
        found(
            "info.599-bytes", "Discovery info of 599 bytes does no harm: the peer is found.", .advertiserInit,
            [
                "a": String(repeating: "v", count: 250), "b": String(repeating: "v", count: 250),
                "c": String(repeating: "v", count: 90),
            ]),
        found(
            "info.1194-bytes", "Discovery info of 1,194 bytes does no harm: the peer is found.",
            .advertiserInit,
            Dictionary(uniqueKeysWithValues: (0..<5).map { ("\($0)", String(repeating: "v", count: 236)) })),
        found(
            "info.unicode-key", "A key that is not ASCII does no harm: the peer is found.", .txtRecords,
            ["größe": "7", "b": "1"]),
        found(
            "info.empty-key", "An empty key does no harm: the peer is found.", .txtRecords,
            ["": "x", "b": "1"]),
        found(
            "info.keys-by-case", "Keys that differ in capital letters only do no harm: the peer is found.",
            .txtRecords,
            ["Key": "1", "key": "2"]),
        name(
            "name.newline", "A display name with a newline and a tab does no harm: the peers connect.",
            "Ann\n\tB"),
        name(
            "name.control", "A display name with control characters does no harm: the peers connect.",
            "Ann\u{0}\u{7F}B"),
        name(
            "name.direction",
            "A display name that turns the direction of writing does no harm: the peers connect.",
            "Ann\u{202E}B\u{2068}C\u{2069}"),
        Program(
            "type.refused",
            "A service type that breaks the rules is reported, and does no harm: empty, too long, without a letter, "
                + "with other characters, or with a hyphen at the wrong place.",
            .serviceNames,
            left: { app in
                for type in invalidTypes {
                    let advertiser = MCNearbyServiceAdvertiser(
                        peer: app.peer, discoveryInfo: nil, serviceType: type)
                    advertiser.delegate = app
                    advertiser.startAdvertisingPeer()
                    try await app.wait("did not advertise: invalidParameter")
                }
            },
            right: { app in
                for type in invalidTypes {
                    let browser = MCNearbyServiceBrowser(peer: app.peer, serviceType: type)
                    browser.delegate = app
                    browser.startBrowsingForPeers()
                    try await app.wait("did not browse: invalidParameter")
                }
            }),
    ]

    /// Types that break the rules of RFC 6335.
    private static let invalidTypes = ["", "abcdefghijklmnop", "123", "a_b", "-a", "a-", "a--b"]

    /// A program in which the info that is found is the one that is advertised.
    private static func info(
        _ id: String, _ statement: String, _ source: Source, _ info: [String: String]?
    ) -> Program {
        Program(
            id, statement, source,
            left: { app in
                app.onFound = { _, found in app.expect(found, is: info, "the info") }
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
            },
            right: { app in
                app.advertise(info)
                app.expect(app.advertiser.discoveryInfo, is: info, "the property")
            })
    }

    /// A program in which a peer with this info is found, whatever arrives of it.
    private static func found(
        _ id: String, _ statement: String, _ source: Source, _ info: [String: String]
    ) -> Program {
        Program(
            id, statement, source,
            left: { app in
                app.browser.startBrowsingForPeers()
                try await app.wait("found right")
            },
            right: { app in app.advertise(info) })
    }

    /// A program in which a peer of this name connects.
    private static func name(_ id: String, _ statement: String, _ name: String) -> Program {
        Program(
            id, statement, .displayName,
            left: { app in
                app.onState = { _, state in if state == .connected { app.note("connected") } }
                app.inviteAll()
                try await app.wait("connected")
            },
            right: { app in
                app.peer = MCPeerID(displayName: name)
                try await app.connect()
            })
    }
}
