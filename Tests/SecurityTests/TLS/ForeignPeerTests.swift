import MultipeerFraming
import MultipeerSecurity
import TestSupport
import Testing

@Suite("5.3 TLS peers that do not follow the profile", .inTurns)
struct ForeignPeerTests {
    let ann: Identity
    let eve: Identity

    init() throws {
        ann = try .generated()
        eve = try .generated()
    }

    private func meet(
        _ deviations: ForeignEnd.ProfileDeviations, accepting: [Fingerprint]? = nil
    ) throws -> (fault: SecurityFault?, alert: UInt8?) {
        var channel = try SecureChannel.tls(
            TLSContext(identity: ann), role: deviations.isServer ? .client : .server,
            accepting: Pair.pins(accepting ?? [eve.fingerprint]))
        var foreign = ForeignEnd(deviations)
        return (foreign.meet(&channel), foreign.alert)
    }

    private func deviations(isServer: Bool = false) throws -> ForeignEnd.ProfileDeviations {
        ForeignEnd.ProfileDeviations(
            isServer: isServer, chain: eve.chain.map(\.der), keyPEM: try eve.encodedPEM())
    }

    @Test("a client that follows the profile is accepted, so the refusals below are meaningful")
    func control() throws {
        let outcome = try meet(deviations())
        #expect(outcome.fault == nil && outcome.alert == nil)
    }

    @Test("a client without a certificate is refused with an alert [tls.client-certificate]")
    func noCertificate() throws {
        let outcome = try meet(ForeignEnd.ProfileDeviations())
        #expect(outcome.fault == .peer(.noCertificate))
        #expect(outcome.alert == 116)
    }

    @Test("a client with an unknown certificate is refused with an alert [tls.pin]")
    func stranger() throws {
        let outcome = try meet(deviations(), accepting: [ann.fingerprint])
        #expect(outcome.fault == .peer(.unexpectedCertificate))
        #expect(outcome.alert == 42)
    }

    @Test("a client that offers TLS 1.2 at most is refused with an alert [tls.version]")
    func oldClient() throws {
        var old = try deviations()
        old.version = TLSVersion.old
        let outcome = try meet(old)
        #expect(outcome.fault == .peer(.wrongVersion))
        #expect(outcome.alert == 70)
    }

    @Test("a server that offers TLS 1.2 at most is refused with an alert [tls.version]")
    func oldServer() throws {
        var old = try deviations(isServer: true)
        old.version = TLSVersion.old
        let outcome = try meet(old)
        #expect([.peer(.wrongVersion), .peer(.alert(.init(rawValue: 70)))].contains(outcome.fault))
    }

    @Test(
        "a client that does not offer exactly the protocol is refused before a certificate is sent [tls.alpn]",
        arguments: [
            [], ["h2"], ["mpc/1", "h2"], ["h2", "mpc/1"], ["mpc/1", "mpc/1"], ["mpc/12"], ["mpc/"],
        ])
    func clientWithoutProtocol(_ names: [String]) throws {
        var silent = try deviations()
        silent.protocols = names
        var channel = try SecureChannel.tls(
            TLSContext(identity: ann), role: .server, accepting: Pair.pins([eve.fingerprint]))
        var foreign = ForeignEnd(silent)
        #expect(foreign.meet(&channel) == .peer(.noCommonProtocol))
        #expect(foreign.alert == 120)
        let hasSeenCertificate = foreign.hasSeenCertificate
        #expect(!hasSeenCertificate)
    }

    @Test("a client that offers the protocol receives the certificate before it has shown its own [tls.alpn]")
    func clientWithProtocol() throws {
        var channel = try SecureChannel.tls(
            TLSContext(identity: ann), role: .server, accepting: Pair.pins([eve.fingerprint]))
        var foreign = ForeignEnd(ForeignEnd.ProfileDeviations())
        #expect(foreign.meet(&channel) == .peer(.noCertificate))
        let hasSeenCertificate = foreign.hasSeenCertificate
        #expect(hasSeenCertificate)
    }

    @Test("each key update is reported in order with the data around it [tls.messages]", arguments: [1, 40])
    func keyUpdates(_ count: Int) throws {
        var channel = try SecureChannel.tls(
            TLSContext(identity: ann), role: .server, accepting: Pair.pins([eve.fingerprint]))
        var foreign = ForeignEnd(try deviations())
        #expect(foreign.meet(&channel) == nil)
        var wire = foreign.write([1])
        for _ in 0..<count { wire += foreign.updateKeys() }
        wire += foreign.write([2])
        try channel.receive(wire.span)
        var buffer = ByteBuffer()
        #expect(try channel.read(into: &buffer, upTo: 100) == .bytes(1))
        for _ in 0..<count {
            #expect(try channel.read(into: &buffer, upTo: 100) == .message(.keyUpdate))
        }
        #expect(try channel.read(into: &buffer, upTo: 100) == .bytes(1))
        #expect(try channel.read(into: &buffer, upTo: 100) == .needsInput)
        #expect(buffer.takeAll() == [1, 2])
        // The channel goes on with new keys in both directions.
        try channel.write([3])
        _ = foreign.step(channel.takeOutput())
        #expect(foreign.alert == nil)
    }

    @Test("a session ticket is reported [tls.no-resumption]")
    func tickets() throws {
        var generous = try deviations(isServer: true)
        generous.tickets = 1
        generous.selectsFirst = true
        var channel = try SecureChannel.tls(
            TLSContext(identity: ann), role: .client, accepting: Pair.pins([eve.fingerprint]))
        var foreign = ForeignEnd(generous)
        for _ in 0..<4 {
            _ = try channel.handshake()
            let answer = foreign.step(channel.takeOutput())
            try channel.receive(answer.span)
        }
        var buffer = ByteBuffer()
        #expect(try channel.handshake())
        #expect(try channel.read(into: &buffer, upTo: 100) == .message(.sessionTicket))
        #expect(try channel.read(into: &buffer, upTo: 100) == .needsInput)
    }

    @Test("a server that selects no protocol is refused by the client [tls.alpn]")
    func serverWithoutProtocol() throws {
        let outcome = try meet(deviations(isServer: true))
        #expect(outcome.fault == .peer(.noCommonProtocol))
        #expect(outcome.alert != nil)
    }

    @Test("8 certificates are accepted, 9 are refused [chain.limit]", arguments: [8, 9])
    func chainCount(_ count: Int) throws {
        var many = try deviations()
        for _ in 1..<count { many.chain.append(try Identity.generated().chain[0].der) }
        #expect(try meet(many).fault == (count == 8 ? nil : .peer(.chainTooLong)))
    }

    @Test("more than 16 KiB of certificates are refused [chain.limit]")
    func chainSize() throws {
        var large = try deviations()
        let filler = try LargeCertificate.make(ofAtLeast: 6_000)
        large.chain += [filler, filler, filler]
        #expect(try meet(large).fault == .peer(.chainTooLong))
        large.chain.removeLast()
        #expect(try meet(large).fault == nil)
    }
}
