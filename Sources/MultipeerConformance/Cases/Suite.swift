/// All cases, section by section. A section is one array in a file of its own.
package enum Suite {
    package static let sections: [(name: String, title: String, cases: [Case])] = [
        ("DATA", "connection data, chapter 4", dataCases),
        ("ENC", "encryption, chapter 5", encryptionCases),
        ("LINK", "links, chapter 6", linkCases),
        ("FRM", "frames, chapter 7", frameCases),
        ("MSG", "messages, chapter 8", messageCases),
    ]

    package static var cases: [Case] { sections.flatMap(\.cases) }
}
