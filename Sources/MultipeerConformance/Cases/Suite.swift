import MultipeerSecurity

/// All cases, section by section. The files of a section are in the folder with its name.
package enum Suite {
    package static let sections: [(name: String, title: String, cases: [Case])] = [
        ("DATA", "connection data, chapter 4", DataFormCases.all + DataUseCases.all + AddressCases.all),
        ("ENC", "encryption, chapter 5", OutcomeCases.all + TLSCases.all + KeyedLinkCases.all),
        (
            "LINK", "links, chapter 6",
            DialCases.all + HelloCases.all + ConfirmCases.all + SelectCases.all + StaleLinkCases.all
                + DataNamingCases.all
        ),
        ("FRM", "frames, chapter 7", FrameCases.all),
        ("MSG", "messages, chapter 8", MessageCases.all + MessageCreditCases.all + FairShareCases.messages),
        (
            "CHN", "streams, chapter 9",
            StreamCases.all + ChannelRuleCases.all + ChannelLimitCases.all + FairShareCases.channels
        ),
        (
            "RES", "resources, chapter 9",
            IncomingResourceCases.all + ResourceTroubleCases.all + OutgoingResourceCases.all
                + ResumeCases.all
        ),
        ("DGR", "datagrams, chapter 10", DatagramPathCases.all + DatagramTroubleCases.all),
        (
            "MSH", "mesh, chapter 11",
            IntroductionCases.all + MemberEntryCases.all + SignedEntryCases.all + MeshSizeCases.all
                + MeshExcessCases.all + InventedMemberCases.all + MemberTrustCases.all
        ),
        (
            "INV", "invitations, chapter 12",
            InviteeCases.all + GlareCases.all + InvitationRoomCases.all + InviterCases.all
                + InviterPlaceCases.all + KeyedInvitationCases.all + AddressInvitationCases.all
                + CodeInviteeCases.all
                + CodeInviterCases.all
        ),
        ("DNS", "discovery, chapter 12", AdvertisingCases.all + AnsweringCases.all + BrowsingCases.all),
        ("SAS", "verification codes, chapter 13", CodeCases.all + CodeResultCases.all),
        ("LIV", "liveness and the end of a link, chapter 14", LivenessCases.all),
        (
            "LIM", "limits, chapter 15",
            BudgetCases.all + MemoryLimitCases.all + PeerLimitCases.all + PrefixCases.all
                + FairShareCases.limits
        ),
        ("MUT", "mutations of valid transcripts", MutationCases.all),
        ("FLOOD", "floods, on request only", FloodCases.all),
    ]

    /// Cases that wait on purpose, or repeat something very often, for a second or more.
    static let lengthy: Set = [
        "DATA-15", "DATA-16", "DATA-18", "DATA-24", "DATA-28", "DATA-29",
        "ENC-14", "ENC-18", "ENC-20", "ENC-22", "ENC-23", "ENC-26",
        "LINK-04", "LINK-05", "LINK-17", "LINK-18", "LINK-20", "LINK-21", "LINK-22", "LINK-23", "LINK-25",
        "LINK-27",
        "LINK-28", "LINK-30", "LINK-33", "LINK-34", "LINK-36", "LINK-37",
        "FRM-11",
        "MSG-04", "MSG-06", "MSG-09", "MSG-12", "MSG-15", "MSG-16",
        "CHN-11", "CHN-18", "CHN-20", "CHN-23",
        "RES-01", "RES-07", "RES-11", "RES-13", "RES-15", "RES-17",
        "DGR-04", "DGR-05", "DGR-06", "DGR-07", "DGR-08", "DGR-09", "DGR-10", "DGR-12", "DGR-13",
        "DGR-14",
        "MSH-02", "MSH-03", "MSH-04", "MSH-05", "MSH-06", "MSH-07", "MSH-09", "MSH-11", "MSH-13", "MSH-14",
        "MSH-15",
        "MSH-16", "MSH-17", "MSH-18", "MSH-19", "MSH-21", "MSH-30", "MSH-31", "MSH-32", "MSH-37", "MSH-38",
        "MSH-39", "MSH-41",
        "INV-04", "INV-05", "INV-06", "INV-07", "INV-08", "INV-12", "INV-15", "INV-16", "INV-17", "INV-18",
        "INV-26", "INV-32", "INV-36", "INV-37", "INV-38",
        "DNS-03", "DNS-04", "DNS-06", "DNS-07", "DNS-08", "DNS-09", "DNS-10", "DNS-11", "DNS-12", "DNS-13",
        "DNS-14",
        "DNS-15", "DNS-16", "DNS-17", "DNS-18", "DNS-19", "DNS-20", "DNS-22", "DNS-23",
        "SAS-03", "SAS-04", "SAS-11",
        "LIV-01", "LIV-02", "LIV-03", "LIV-04", "LIV-05",
        "LIM-03", "LIM-05", "LIM-06", "LIM-07", "LIM-08", "LIM-10", "LIM-11",
        "LIM-15",
    ]

    /// Cases that wait for real timeouts, 4 s or more, and do little else.
    static let waiting: Set = [
        "ENC-22", "LINK-04", "LINK-05", "LINK-23", "LINK-36", "MSH-07", "MSH-15", "MSH-17", "MSH-18",
        "MSH-19",
        "MSH-31", "MSH-32", "MSH-41", "DGR-04", "INV-15", "INV-32", "INV-37", "INV-38", "DNS-04",
        "DNS-06", "DNS-08", "DNS-09", "DNS-10", "DNS-11", "DNS-12", "DNS-13", "DNS-14", "DNS-18", "DNS-20",
        "DNS-22", "DNS-23",
        "SAS-11", "LIV-01",
        "LIV-02",
        "LIV-05",
        "LIM-08",
    ]

    package static var cases: [Case] { sections.flatMap(\.cases) }

    /// A digest of what the cases try and expect: reports can be compared if it is the same.
    package static let edition: String = {
        let lines = cases.map { one in
            "\(one.id)\n\(one.chapter)\n\(one.level)\n\(one.stimulus)\n\(one.expectation)\n"
        }
        return String(SHA256.hash(Array(lines.joined().utf8)).hex.prefix(8))
    }()
}
