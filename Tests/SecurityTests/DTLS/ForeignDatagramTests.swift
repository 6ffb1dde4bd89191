import CLibSSL
import MultipeerSecurity
import TestSupport
import Testing

@Suite("10.3 Foreign DTLS peers", .inTurns)
struct ForeignDatagramTests {
    private typealias ProfileDeviations = ForeignDatagramEnd.ProfileDeviations

    @Test("a peer that follows the profile is accepted, on either side", arguments: [false, true])
    func profile(_ isServer: Bool) throws {
        var foreign = ForeignDatagramEnd(ProfileDeviations(name: "ours", isServer: isServer))
        var end = try DatagramEnd(isServer ? .client : .server, key: DatagramPair.key)
        foreign.meet(&end)
        #expect(end.isEstablished == true && foreign.isEstablished)
        end.receive(foreign.write([7, 8]))
        #expect(end.takeReceived() == [[7, 8]])
        try end.write([9])
        for datagram in end.takeDatagrams() { _ = foreign.step(datagram) }
        #expect(foreign.received == [[9]])
    }

    private static let strangers: [ProfileDeviations] =
        [
            "PSK-CHACHA20-POLY1305", "PSK-AES128-GCM-SHA256", "DHE-PSK-CHACHA20-POLY1305",
            "ECDHE-PSK-AES128-CBC-SHA256", "ECDHE-PSK-NULL-SHA256", "ADH-AES128-GCM-SHA256",
        ]
        .map { ProfileDeviations(name: $0, suites: $0) } + [
            ProfileDeviations(name: "DTLS 1.0", version: DTLS1_VERSION, suites: "ALL"),
            ProfileDeviations(name: "no extended master secret", extendsSecret: false),
        ]

    @Test(
        "another suite, another version or no extended master secret is refused [dgram.profile]",
        arguments: strangers)
    private func profiles(_ deviations: ProfileDeviations) throws {
        for isServer in [false, true] {
            var foreign = ForeignDatagramEnd(isServer ? deviations.serving() : deviations)
            var end = try DatagramEnd(isServer ? .client : .server, key: DatagramPair.key)
            foreign.meet(&end)
            #expect(end.isEstablished == false && end.fault != nil)
        }
    }

    @Test("a certificate does not replace the key [dgram.profile]", arguments: [false, true])
    func certificates(_ isServer: Bool) throws {
        let identity = try Identity.generated(commonName: "Eve")
        let deviations = ProfileDeviations(
            name: "certificate", isServer: isServer, suites: "ECDHE-ECDSA-CHACHA20-POLY1305",
            certificate: identity.chain[0].der, keyPEM: try identity.encodedPEM())
        var foreign = ForeignDatagramEnd(deviations)
        var end = try DatagramEnd(isServer ? .client : .server, key: DatagramPair.key)
        foreign.meet(&end)
        #expect(end.isEstablished == false && end.fault != nil && !foreign.isEstablished)
    }

    @Test("another PSK identity is refused [dgram.key]")
    func identity() throws {
        var foreign = ForeignDatagramEnd(ProfileDeviations(name: "mpc/2", identity: "mpc/2"))
        var end = try DatagramEnd(.server, key: DatagramPair.key)
        foreign.meet(&end)
        #expect(end.isEstablished == false && end.fault != nil && !foreign.isEstablished)
    }

    @Test("there is no second handshake inside an association [dgram.profile]", arguments: [false, true])
    func renegotiation(_ isServer: Bool) throws {
        var foreign = ForeignDatagramEnd(ProfileDeviations(name: "eager", isServer: isServer))
        var end = try DatagramEnd(isServer ? .client : .server, key: DatagramPair.key)
        foreign.meet(&end)
        let before = end.channel.flight
        end.receive(foreign.renegotiate())
        let answers = end.takeDatagrams()
        // An alert, protected: 2 bytes and what a record adds.
        #expect(answers.allSatisfy { $0.count == 31 && $0[0] == 21 })
        #expect(end.channel.flight == before && end.takeReceived().isEmpty && end.fault == nil)
    }

    @Test("close_notify of the peer is a failure, because a path has none of its own")
    func goodbye() throws {
        var foreign = ForeignDatagramEnd(ProfileDeviations(name: "polite"))
        var end = try DatagramEnd(.server, key: DatagramPair.key)
        foreign.meet(&end)
        end.receive(foreign.sayGoodbye())
        #expect(end.fault == .peer(.alert(SecurityFault.Alert(rawValue: 0))))
    }
}
