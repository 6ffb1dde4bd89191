import MultipeerSecurity
import TestSupport
import Testing

@Suite("19 Privacy", .computing)
struct PrivacyTests {
    private let table: PrivacyTable

    init() throws { table = try PrivacyTable() }

    @Test(
        "a TLS handshake shows two messages with the listed fields and nothing else [privacy.clear] [tls.suites]",
        arguments: ["link", "invitation"])
    func tls(_ use: String) throws {
        let name = try #require(table.tls.alpn?[use])
        let identities = (client: try Identity.generated(), server: try Identity.generated())
        var pair = try Pair.tls(
            client: identities.client, server: identities.server, protocols: (name, name))
        var up: [UInt8] = []
        var down: [UInt8] = []
        for _ in 0..<5 {
            _ = try pair.client.handshake()
            let sent = pair.client.takeOutput()
            try pair.server.receive(sent.span)
            _ = try pair.server.handshake()
            let answered = pair.server.takeOutput()
            try pair.client.receive(answered.span)
            up += sent
            down += answered
        }
        try pair.client.write(Array("hello".utf8))
        up += pair.client.takeOutput()
        for (bytes, hello) in [(up, "ClientHello"), (down, "ServerHello")] {
            let records = try ClearRecord.ofTLS(bytes)
            #expect(records.map(\.type).prefix(2) == [22, 20])
            #expect(records.dropFirst(2).allSatisfy { $0.type == 23 } && records.count > 3)
            let fields = try records.flatMap { try $0.fields() }
            #expect(Set(fields.map(\.message)) == [hello])
            for field in fields { #expect(table.tls.lists(field, alpn: name), "\(field)") }
            for certificate in identities.client.chain + identities.server.chain {
                #expect(!bytes.holds(certificate.fingerprint.bytes))
                #expect(!bytes.holds(certificate.der.suffix(64)))
            }
        }
    }

    @Test("a DTLS handshake shows the fields that the table lists, and nothing else [privacy.clear]")
    func datagrams() throws {
        var pair = try DatagramPair()
        var heard: [[UInt8]] = []
        pair.client.step()
        pair.server.step()
        for _ in 0..<10 {
            let sent = pair.client.takeDatagrams()
            for datagram in sent { pair.server.receive(datagram) }
            let answered = pair.server.takeDatagrams()
            for datagram in answered { pair.client.receive(datagram) }
            heard += sent + answered
        }
        try pair.client.write(Array("hello".utf8))
        heard += pair.client.takeDatagrams()
        let isEstablished = pair.client.isEstablished && pair.server.isEstablished
        #expect(isEstablished)
        let records = try heard.flatMap { try ClearRecord.ofDTLS($0) }
        #expect(Set(records.filter { !$0.isClear }.map(\.type)) == [22, 23])
        let fields = try records.flatMap { try $0.fields() }
        let messages: Set = ["ClientHello", "ServerHello", "ServerKeyExchange", "ClientKeyExchange"]
        #expect(Set(fields.map(\.message)) == messages)
        for field in fields { #expect(table.datagrams.lists(field, alpn: nil), "\(field)") }
        #expect(!heard.joined().holds(DatagramPair.key) && !heard.joined().holds("hello".utf8))
    }
}

extension Sequence<UInt8> {
    fileprivate func holds(_ part: some Collection<UInt8>) -> Bool { Array(self).contains(Array(part)) }
}
