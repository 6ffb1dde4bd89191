/// Where the sources have a number of `Spec/registries.json` for which no test sees a constant.
struct RegistryPlace {
    /// Its name in the registry.
    let name: String
    /// Below `Sources/`.
    let file: String
    /// The code before and after the number: `#` stands for the number, with its unit if it is a duration.
    let code: String
    /// What the number counts, in units of the registry.
    let unit: Int

    init(_ name: String, _ file: String, _ code: String, unit: Int = 1) {
        self.name = name
        self.file = file
        self.code = code
        self.unit = unit
    }

    /// The number; nil if the code is not there, or there twice.
    func value() throws -> Int? {
        let digits = #"(?:[0-9][0-9_]*(?: (?:\*|<<) [0-9][0-9_]*)*)"#
        let duration = #"(?:Duration)?\.((?:milli)?seconds)\(("# + digits + #")\)|("# + digits + ")"
        let parts = code.split(separator: "#", omittingEmptySubsequences: false)
            .map { $0.map { $0.isLetter || $0.isNumber || $0 == " " ? String($0) : "\\\($0)" }.joined() }
        let pattern = try Regex(parts.joined(separator: "(?:" + duration + ")"), as: Match.self)
        let found = try Repository.file("Sources/\(file)").text.matches(of: pattern).map(\.output)
        guard found.count == 1, let match = found.first else { return nil }
        if let plain = match.3 { return number(plain).map { $0 * unit } }
        return match.2.flatMap { number($0) }.map { $0 * (match.1 == "seconds" ? 1_000 : 1) * unit }
    }

    private typealias Match = (Substring, Substring?, Substring?, Substring?)

    private func number(_ text: Substring) -> Int? {
        let terms = text.replacing("_", with: "").split(separator: " ")
        var value = terms.first.flatMap { Int($0) }
        for (sign, term) in zip(terms.dropFirst(), terms.dropFirst(2)) {
            guard let left = value, let right = Int(term) else { continue }
            if sign == "*" { value = left * right }
            if sign == "<<" { value = left << right }
        }
        return value
    }
}

extension RegistryPlace {
    static let limits = [
        RegistryPlace("displayName", "MultipeerCore/DisplayName.swift", "static let longest = #"),
        RegistryPlace(
            "channelResets", "MultipeerLink/Channels/IncomingChannels.swift", "static let resetCapacity = #"),
        RegistryPlace("channelMemory", "MultipeerLink/Channels/ReceiveMemory.swift", "static let limit = #"),
        RegistryPlace(
            "turnProgress", "MultipeerLink/Messages/ReassemblyTurns.swift", "static let leastBrought = #"),
        RegistryPlace("datagramWindow", "MultipeerLink/Datagrams/ReplayWindow.swift", "static let size = #"),
        RegistryPlace(
            "datagramMemory", "MultipeerEngine/Datagrams/LinkDatagrams.swift", "static let mostUnread = #"),
        RegistryPlace(
            "smallestPeers", "MultipeerTransport/Session/Configuration+Ranges.swift",
            "#...16 ~= maximumPeers"
        ),
        RegistryPlace(
            "largestPeers", "MultipeerTransport/Session/Configuration+Ranges.swift",
            "2...# ~= maximumPeers"),
        RegistryPlace("members", "MultipeerMesh/DatabaseEntry.swift", "static let longestList = #"),
        RegistryPlace("entryBucketSent", "MultipeerMesh/MeshLink.swift", "static let burst = #"),
        RegistryPlace("entriesSentPerSecond", "MultipeerMesh/MeshLink.swift", "let perSecond: Int64 = #"),
        RegistryPlace("entryBucket", "MultipeerMesh/MeshLink.swift", "static let receivedBurst = #"),
        RegistryPlace("entriesPerSecond", "MultipeerMesh/MeshLink.swift", "let receivedPerSecond: Int64 = #"),
        RegistryPlace(
            "awaitedPeers", "MultipeerHandshake/Establishment/LinkEstablishment.swift",
            "let expectedPeerLimit = #"),
        RegistryPlace(
            "introducedDials", "MultipeerHandshake/Establishment/IntroducedDials.swift",
            "static let burst = #"),
        RegistryPlace(
            "introducedDialsPerSecond", "MultipeerHandshake/Establishment/IntroducedDials.swift",
            "static let perSecond: Int64 = #"),
        RegistryPlace(
            "memberDials", "MultipeerHandshake/Establishment/IntroducedDials.swift",
            "static let burstPerMember = #"),
        RegistryPlace(
            "memberDialsPerSecond", "MultipeerHandshake/Establishment/IntroducedDials.swift",
            "static let perSecondPerMember: Int64 = #"),
        RegistryPlace(
            "dialledAddresses", "MultipeerHandshake/Establishment/IntroducedDials.swift",
            "static let dialledAddresses = #"),
        RegistryPlace(
            "untakenEventsInAll", "MultipeerEngine/Session/UnreadEvents.swift", "static let eventsInAll = #"),
        RegistryPlace(
            "closing", "MultipeerEngine/Connections/ConnectionTable.swift", "static let finishingLimit = #"),
        RegistryPlace(
            "issuedRecipients", "MultipeerHandshake/ConnectionData/ConnectionDataIssuer.swift",
            "static let recipientLimit = #"),
        RegistryPlace(
            "refusedAddresses", "MultipeerHandshake/Invitation/InvitationTiming.swift",
            "static let refusedAddresses = #"),
        RegistryPlace(
            "confirmedPerPeer", "MultipeerHandshake/Handshake/HandshakeTable.swift",
            "static let confirmedPerPeer = #"),
        RegistryPlace(
            "untakenEvents", "MultipeerEngine/Session/UnreadEvents.swift", "static let eventsPerPeer = #"),
        RegistryPlace(
            "chainCertificates", "MultipeerSecurity/Certificates/Identity.swift",
            "static let longestChain = #"),
        RegistryPlace(
            "chainBytes", "MultipeerSecurity/Certificates/Identity.swift", "static let largestChain = #"),
        RegistryPlace(
            "parallelDials", "MultipeerHandshake/Establishment/DialPlan.swift", "static let parallel = #"),
        RegistryPlace("linkLocalInterfaces", "MultipeerCore/Candidate.swift", "zones.prefix(#)"),
        RegistryPlace("smallestPort", "MultipeerCore/Candidate.swift", "port < # ||"),
        RegistryPlace("controlBucket", "MultipeerCore/TokenBucket.swift", "static let capacity = #"),
        RegistryPlace(
            "controlPerSecond", "MultipeerCore/TokenBucket.swift", "static let perSecond: Int64 = #"),
        RegistryPlace(
            "controlPayload", "MultipeerCore/TokenBucket.swift", "static let trafficPerToken = #"),
        RegistryPlace(
            "keyUpdateBucket", "MultipeerEngine/Connections/Connection.swift", "static let keyUpdates = #"),
        RegistryPlace(
            "keyUpdatesPerSecond", "MultipeerEngine/Connections/Connection.swift",
            "capacity: Self.keyUpdates, perSecond: #, now"),
        RegistryPlace(
            "emptyInARow", "MultipeerLink/Channels/IncomingChannels.swift", "static let emptyLimit = #"),
        RegistryPlace("outbox", "MultipeerTransport/Sending/SendQueue.swift", "byteLimit: Int = #,"),
        RegistryPlace(
            "serviceType", "MultipeerDiscovery/Service/ServiceType.swift", "(1...#).contains(name.count)"),
        RegistryPlace(
            "infoKey", "MultipeerDiscovery/Service/DiscoveryInfo.swift", "(1...#).contains(bytes.count)"),
        RegistryPlace("infoEntry", "MultipeerDiscovery/Service/DiscoveryInfo.swift", "count <= # else"),
        RegistryPlace("info", "MultipeerDiscovery/Service/DiscoveryInfo.swift", "static let longest = #"),
        RegistryPlace("text", "MultipeerDiscovery/Service/Binding+TXT.swift", "static let longestTXT = #"),
        RegistryPlace("cachedRecords", "MultipeerDiscovery/Querier/Cache.swift", "static let most = #"),
        RegistryPlace("cachedBytes", "MultipeerDiscovery/Querier/Cache.swift", "static let mostBytes = #"),
        RegistryPlace("instances", "MultipeerDiscovery/Querier/InstanceTable.swift", "static let most = #"),
        RegistryPlace(
            "addresses", "MultipeerDiscovery/Querier/HostTable.swift", "static let mostAddresses = #"),
        RegistryPlace(
            "singleAnswers", "MultipeerDiscovery/Responder/UnicastRateLimiter.swift", "let most: Int64 = #"),
        RegistryPlace(
            "singleAnswersPerSecond", "MultipeerDiscovery/Responder/UnicastRateLimiter.swift",
            "Int64 = 1_000_000_000 / #"),
        RegistryPlace(
            "instanceQuestions", "MultipeerDiscovery/Querier/QuerySchedule.swift", "let most: Int64 = #"),
        RegistryPlace(
            "instanceQuestionsPerSecond", "MultipeerDiscovery/Querier/QuerySchedule.swift",
            ".milliseconds(1_000 / #)"
        ),
        RegistryPlace(
            "invitationLosses", "MultipeerHandshake/Invitation/InvitationTiming.swift",
            "static let losses = #"),
    ]

    static let timers = [
        RegistryPlace(
            "dialStagger", "MultipeerHandshake/Establishment/DialPlan.swift", "static let stagger = #"),
        RegistryPlace(
            "retryFirst", "MultipeerHandshake/Establishment/DialPlan.swift", "static let firstPause = #"),
        RegistryPlace(
            "retryLast", "MultipeerHandshake/Establishment/DialPlan.swift", "static let longestPause = #"),
        RegistryPlace(
            "invitationRetryLast", "MultipeerHandshake/Establishment/DialPlan.swift",
            "static let longestBusyPause = #"),
        RegistryPlace(
            "ping", "MultipeerTransport/Session/Session+Configuration.swift",
            "            keepAliveInterval = #"),
        RegistryPlace("ping", "MultipeerLink/Control/Liveness.swift", "keepAliveInterval: Duration = #"),
        RegistryPlace(
            "dead", "MultipeerTransport/Session/Session+Configuration.swift", "            idleTimeout = #"),
        RegistryPlace("dead", "MultipeerLink/Control/Liveness.swift", "idleTimeout: Duration = #"),
        RegistryPlace(
            "userTimeout", "MultipeerTransport/Session/Session+Configuration.swift",
            "            idleTimeout = #"),
        RegistryPlace("entryOutside", "MultipeerMesh/MembershipTiming.swift", "let unreachable = #"),
        RegistryPlace("departed", "MultipeerMesh/MembershipTiming.swift", "let departure = #"),
        RegistryPlace("met", "MultipeerMesh/MembershipTiming.swift", "let meeting = #"),
        RegistryPlace("meshRetryFirst", "MultipeerMesh/MembershipTiming.swift", "let firstPause = #"),
        RegistryPlace("meshRetryLast", "MultipeerMesh/MembershipTiming.swift", "let longestPause = #"),
        RegistryPlace(
            "introducedPause", "MultipeerHandshake/Establishment/IntroducedDials.swift",
            "static let firstPause = #"),
        RegistryPlace(
            "introducedPauseLast", "MultipeerHandshake/Establishment/IntroducedDials.swift",
            "static let longestPause = #"),
        RegistryPlace("meshMissed", "MultipeerMesh/MembershipTiming.swift", "let missed = #"),
        RegistryPlace("meshCrowded", "MultipeerMesh/MembershipTiming.swift", "let crowdedPause = #"),
        RegistryPlace("meshSteady", "MultipeerMesh/MembershipTiming.swift", "let steady = #"),
        RegistryPlace("meshFresh", "MultipeerMesh/MembershipTiming.swift", "let freshData = #"),
        RegistryPlace("meshCallback", "MultipeerMesh/MembershipTiming.swift", "let callback = #"),
        RegistryPlace("backstop", "MultipeerMesh/MembershipTiming.swift", "let backstop = #"),
        RegistryPlace("dismissal", "MultipeerMesh/MembershipTiming.swift", "let dismissal = #"),
        RegistryPlace("setAside", "MultipeerMesh/MembershipTiming.swift", "let setAside = #"),
        RegistryPlace("slept", "MultipeerMesh/MembershipTiming.swift", "let gap = #"),
        RegistryPlace("linger", "MultipeerLink/Link.swift", "static let linger = #"),
        RegistryPlace("linger", "MultipeerEngine/Connections/ConnectionTable.swift", "static let linger = #"),
        RegistryPlace(
            "resetRefill", "MultipeerLink/Channels/IncomingChannels.swift", "let resetInterval = #", unit: 200
        ),
        RegistryPlace("turn", "MultipeerLink/Messages/ReassemblyTurns.swift", "static let timeout = #"),
        RegistryPlace(
            "datagramFlight", "MultipeerLink/Datagrams/DatagramPath+Timers.swift", "static let shortest = #"),
        RegistryPlace(
            "datagramFlightLast", "MultipeerLink/Datagrams/DatagramPath+Timers.swift",
            "static let longest = #"),
        RegistryPlace(
            "datagramHandshake", "MultipeerLink/Datagrams/DatagramPath.swift", "var handshakeTimeout = #"),
        RegistryPlace("datagramPing", "MultipeerLink/Datagrams/DatagramPath.swift", "var pings = #"),
        RegistryPlace(
            "datagramPingAfter", "MultipeerLink/Datagrams/DatagramPath+Timers.swift",
            "static let afterMessage = #"),
        RegistryPlace(
            "datagramPingFirst", "MultipeerLink/Datagrams/DatagramPath+Timers.swift",
            "static let firstRepetition = #"),
        RegistryPlace(
            "datagramPingNext", "MultipeerLink/Datagrams/DatagramPath+Timers.swift",
            "static let repetition = #"),
        RegistryPlace("datagramSilence", "MultipeerLink/Datagrams/DatagramPath.swift", "var silence = #"),
        RegistryPlace("datagramRetry", "MultipeerLink/Datagrams/DatagramPath.swift", "var rest = #"),
        RegistryPlace("datagramRetryUp", "MultipeerLink/Datagrams/DatagramPath.swift", "var restOnceUp = #"),
        RegistryPlace(
            "datagramRetryFirst", "MultipeerLink/Datagrams/DatagramPath.swift",
            ".seconds(# << min(failures - 1",
            unit: 1_000),
        RegistryPlace(
            "hostTTL", "MultipeerDiscovery/Responder/Responder.swift", "min(max(hostTTL, 10), #)", unit: 1_000
        ),
        RegistryPlace(
            "smallestHostTTL", "MultipeerDiscovery/Responder/Responder.swift", "max(hostTTL, #)", unit: 1_000),
        RegistryPlace(
            "otherTTL", "MultipeerDiscovery/Responder/Responder.swift", "let otherTTL: UInt32 = #",
            unit: 1_000),
        RegistryPlace("goodbye", "MultipeerDiscovery/Responder/Goodbye.swift", "static let interval = #"),
        RegistryPlace(
            "oneShot", "MultipeerDiscovery/Querier/CachedRecord.swift", "let tentativeLifetime = #"),
        RegistryPlace("doubt", "MultipeerDiscovery/Querier/CachedRecord.swift", "let reconfirmTimeout = #"),
        RegistryPlace(
            "missedPeer", "MultipeerDiscovery/Querier/Querier+Browsing.swift", "let missedTime = #"),
        RegistryPlace("missedQuery", "MultipeerDiscovery/Querier/QuerySchedule.swift", "let missedGap = #"),
        RegistryPlace("missedDial", "MultipeerEssentials/Nearby/MissedPeers.swift", "let interval = #"),
        RegistryPlace("invitation", "MultipeerEssentials/Nearby/Browser.swift", "timeout: Duration = #"),
    ]

    /// Numbers that are no constant of the code, each with what proves it.
    static let elsewhere = [
        "smallestConnectionData": "Spec/vectors/connection-data.json",
        "links": "Limits.peers, one of which is the session's own",
        "meshEntries": "Limits.memberEntries: as many as HELLO may name",
        "evictionHold": "Membership+Cap.swift: 1 s times 0.5 to 1.5 plus 0.5",
        "evictionHoldLast": "the same",
        "invitationRetryFirst": "the pauses of dialling: DialPlan",
    ]
}
