import Foundation

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
        RegistryPlace("refused", "MultipeerDiscovery/Querier/CachedRecord.swift", "let refusedTimeout = #"),
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

/// A sentence of a public page with numbers that an application relies on.
struct DocumentedFigures {
    /// A number, as prose has it.
    enum Figure {
        /// A limit of the registry, divided by `unit`.
        case limit(String, unit: Int = 1)
        /// A time of the registry, in milliseconds, divided by `unit`.
        case timer(String, unit: Int = 1_000)
        /// A number that only the code has.
        case place(String, String, unit: Int = 1)
    }

    /// Below `Sources/`.
    let file: String
    /// `#` stands for each number. Breaks of lines do not count.
    let text: String
    let figures: [Figure]

    init(_ file: String, _ text: String, _ figures: Figure...) {
        (self.file, self.text, self.figures) = (file, text, figures)
    }

    /// The sentence with the present numbers; nil if one of them is not found, or is not a whole number of its unit.
    func sentence(_ limits: [String: Int], _ timers: [String: Int]) throws -> String? {
        var sentence = ""
        let parts = text.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == figures.count + 1 else { return nil }
        for (part, figure) in zip(parts, figures) {
            let (value, unit): (Int?, Int) =
                switch figure {
                case .limit(let name, let unit): (limits[name], unit)
                case .timer(let name, let unit): (timers[name], unit)
                case .place(let file, let code, let unit):
                    (try RegistryPlace("", file, code).value(), unit)
                }
            guard let value, value.isMultiple(of: unit) else { return nil }
            sentence += part + (value / unit).formatted(.number.locale(Locale(identifier: "en_US")))
        }
        return sentence + parts[parts.count - 1]
    }

    /// The comments of a file, each paragraph on one line.
    static func comments(of file: String) throws -> String {
        try Repository.file("Sources/\(file)").lines
            .map { $0.drop { $0 == " " } }
            .map { $0.hasPrefix("///") ? $0.dropFirst(3).drop { $0 == " " } : "" }
            .joined(separator: " ")
    }

    private static let session = "MultipeerTransport/Session/Session.swift"
    private static let configuration = "MultipeerTransport/Session/Session+Configuration.swift"
    private static let ranges = "MultipeerTransport/Session/Configuration+Ranges.swift"
    private static let sending = "MultipeerTransport/Sending/"

    static let all = [
        DocumentedFigures(
            session, "- # links, or # peers in the mesh, by default", .limit("links"), .limit("peers")),
        DocumentedFigures(session, "- # peers connecting or linked:", .limit("awaitedPeers")),
        DocumentedFigures(
            session, "- # MiB, or # messages, accepted and not yet written to one peer:",
            .limit("outbox", unit: 1 << 20), .place(sending + "SendQueue.swift", "messageLimit: Int = #,")),
        DocumentedFigures(
            session, "- # KiB, or # messages, on their way to one peer over UDP:",
            .place(sending + "DatagramSendQueues.swift", "static let bytes = #", unit: 1 << 10),
            .place(sending + "DatagramSendQueues.swift", "static let messages = #")),
        DocumentedFigures(
            session, "- # MiB of unreliable messages of one peer", .limit("datagramMemory", unit: 1 << 20)),
        DocumentedFigures(
            session, "- The peer's `maximumMessageSize`: `send` throws `tooLarge`."),
        DocumentedFigures(
            session, "- # MiB of messages that no task takes from `events`:",
            .limit("messageCredit", unit: 1 << 20)),
        DocumentedFigures(
            session, "- The peer's `maximumStreams`, default #, of streams and files", .limit("channels")),
        DocumentedFigures(
            session,
            "- # KiB written to a stream and not yet sent, with # KiB that its reader has not taken:",
            .place(
                "MultipeerTransport/Channels/ChannelSendQueue.swift", "static let byteLimit = #",
                unit: 1 << 10),
            .limit("channelCredit", unit: 1 << 10)),
        DocumentedFigures(
            session, "- # MiB of unread streams and files, from all peers:",
            .limit("channelMemory", unit: 1 << 20)),
        DocumentedFigures(
            session,
            "- # unauthenticated connections at once, # more from the addresses of expected peers, and # from one address: "
                + "one that is at least # ms old is dropped, drawn at random, or else the new one.",
            .limit("unauthenticated"), .limit("unauthenticatedExpected"), .limit("unauthenticatedPerAddress"),
            .timer("unauthenticatedAge", unit: 1)),
        DocumentedFigures(session, "A peer with # events not yet taken", .limit("untakenEvents")),
        DocumentedFigures(session, "One of more than # bytes, and any while UDP", .limit("datagramMessage")),
        DocumentedFigures(
            session, "The name is a label of 1 to # bytes; the metadata is up to # bytes.",
            .limit("channelName"), .limit("channelMetadata")),
        DocumentedFigures(
            configuration, "The addresses to listen at, at most #; empty listens", .limit("candidates")),
        DocumentedFigures(configuration, "it has at most # bytes there.", .limit("entryCertificate")),
        DocumentedFigures(
            configuration, "the life of the session, at most #.",
            .place("MultipeerSecurity/Trust/TrustStore.swift", "static let maximumCount = #")),
        DocumentedFigures(configuration, "Ports below # are only useful", .limit("smallestPort")),
        DocumentedFigures(
            configuration, "The timeout of one `connect`, # to # seconds; default #.",
            .place(ranges, "# ... .seconds(600)", unit: 1_000),
            .place(ranges, ".seconds(1) ... # ~=", unit: 1_000),
            .timer("attempt")),
        DocumentedFigures(
            configuration, "in bytes: # to 1 GiB (#); default # MiB.", .limit("smallestMaxMessage"),
            .place(ranges, "static let largestMaxMessage = #"), .limit("maxMessage", unit: 1 << 20)),
        DocumentedFigures(
            configuration, "open to this side at a time: 1 to #; default #.",
            .place(ranges, "static let largestMaxChannels = #"), .limit("channels")),
        DocumentedFigures(
            configuration, "Each can hold # KiB of unread data, all of a session together # MiB.",
            .limit("channelCredit", unit: 1 << 10), .limit("channelMemory", unit: 1 << 20)),
        DocumentedFigures(
            configuration, "is probed, at least 10 milliseconds; default # seconds.", .timer("ping")),
        DocumentedFigures(configuration, "at most 1 hour; default # seconds.", .timer("dead")),
        DocumentedFigures(
            configuration, "including the local one: # to #; default #.", .limit("smallestPeers"),
            .limit("largestPeers"), .limit("peers")),
        DocumentedFigures(
            "MultipeerTransport/Discovery/DiscoveryConfiguration.swift", "# to # seconds; default #.",
            .timer("smallestHostTTL"), .timer("hostTTL"), .timer("hostTTL")),
        DocumentedFigures(
            "MultipeerEssentials/Session/Session+Posting.swift",
            "up to # MiB or # messages are queued for each peer.",
            .place(sending + "SendQueue+Posting.swift", "messages: 262_144, bytes: #)", unit: 1 << 20),
            .place(sending + "SendQueue+Posting.swift", "Backlog(messages: #, bytes")),
        DocumentedFigures(
            "MultipeerEssentials/Session/Session+Verification.swift",
            "has not done its part within # seconds",
            .timer("code")),
        DocumentedFigures(
            "MultipeerEssentials/Session/Session+Resources.swift", "(# by default), the call waits.",
            .limit("channels")),
        DocumentedFigures(
            "MultipeerEssentials/Session/Resumption.swift", "a directory keeps at most # of them, and # GiB.",
            .place("MultipeerTransport/Files/UnfinishedFile.swift", "static let limit = #"),
            .place(
                "MultipeerTransport/Files/UnfinishedFile.swift", "let byteLimit: UInt64 = #", unit: 1 << 30)),
        DocumentedFigures(
            "MultipeerEssentials/Nearby/Browser.swift", "or the context has more than # bytes.",
            .limit("invitationContext")),
        DocumentedFigures(
            "MultipeerEssentials/Nearby/Invitation.swift", "application, up to # KiB;",
            .limit("invitationContext", unit: 1 << 10)),
        DocumentedFigures(
            "MultipeerEssentials/Nearby/Advertiser+Invitations.swift",
            "wait in the advertiser: at most #, since",
            .limit("invitations")),
        DocumentedFigures(
            "MultipeerEssentials/Values/PeerID+Creation.swift", "The name to display, 1 to # bytes of UTF-8",
            .limit("displayName")),
        DocumentedFigures(
            "MultipeerEssentials/Values/DiscoveryInfo+Creation.swift", "between has at most # bytes;",
            .limit("infoEntry")),
        DocumentedFigures(
            "MultipeerEssentials/Values/DiscoveryInfo+Creation.swift",
            "with a byte more for each, have at most #:",
            .limit("info")),
    ]
}
