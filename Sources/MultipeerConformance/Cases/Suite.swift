/// All cases, section by section. A section is one array in a file of its own.
package enum Suite {
    package static let sections: [(name: String, title: String, cases: [Case])] = [
        ("DATA", "connection data, chapter 4", dataCases),
        ("ENC", "encryption, chapter 5", encryptionCases),
        ("LINK", "links, chapter 6", linkCases),
        ("FRM", "frames, chapter 7", frameCases),
        ("MSG", "messages, chapter 8", messageCases),
        ("CHN", "streams, chapter 9", channelCases),
        ("RES", "resources, chapter 9", resourceCases),
        ("DGR", "datagrams, chapter 10", datagramCases),
        ("MSH", "mesh, chapter 11", meshCases),
        ("INV", "invitations, chapter 12", invitationCases),
        ("SAS", "verification codes, chapter 13", codeCases),
        ("LIV", "liveness and the end of a link, chapter 14", livenessCases),
        ("LIM", "limits, chapter 15", limitCases),
        ("MUT", "mutations of valid transcripts", mutationCases),
        ("FLOOD", "floods, on request only", floodCases),
    ]

    package static var cases: [Case] { sections.flatMap(\.cases) }
}
