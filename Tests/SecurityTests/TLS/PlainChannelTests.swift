import MultipeerFraming
import MultipeerSecurity
import TestSupport
import Testing

@Suite("5.5 Plain channels", .computing)
struct PlainChannelTests {
    private let preface = Array("MPCPLAIN".utf8)

    @Test("both ends send the preface first, then bytes unchanged [plain.preface]")
    func bothPrefaces() throws {
        var pair = Pair(client: .plain(), server: .plain())
        #expect(pair.client.outputCount == 8)
        #expect(try !pair.client.handshake())
        #expect(try pair.shakeHands())
        try pair.client.write([1, 2, 3])
        #expect(pair.client.outputCount == 3)
        pair.exchange()
        #expect(try pair.server.readAll().bytes == [1, 2, 3])
        let isEncrypted = pair.client.isEncrypted
        #expect(!isEncrypted)
    }

    @Test("a preface in single bytes, followed by data, is understood [plain.preface]")
    func pieces() throws {
        var channel = SecureChannel.plain()
        for (index, byte) in (preface + [7, 8]).enumerated() {
            #expect(try channel.handshake() == (index >= 8))
            try channel.receive([byte].span)
        }
        #expect(try channel.readAll().bytes == [7, 8])
    }

    @Test("one wrong byte anywhere in the preface ends the channel [plain.preface]", arguments: 0..<8)
    func wrongPreface(_ position: Int) throws {
        var wrong = preface
        wrong[position] ^= 1
        var channel = SecureChannel.plain()
        #expect(throws: SecurityFault.peer(.notPlain)) { try channel.receive(wrong.span) }
        #expect(throws: SecurityFault.peer(.notPlain)) { try channel.receive(preface.span) }
    }

    @Test("a peer that begins with TLS is recognised by its first byte [enc.no-negotiation]")
    func tlsInstead() throws {
        var channel = SecureChannel.plain()
        #expect(throws: SecurityFault.peer(.notPlain)) { try channel.receive([22].span) }
    }

    @Test("a plain channel has no key, suite, peer or close_notify [tls.truncation]")
    func facts() throws {
        var pair = Pair(client: .plain(), server: .plain())
        try pair.shakeHands()
        #expect(throws: SecurityFault.self) {
            try pair.client.exportKey(label: "x", context: [], count: 32)
        }
        let facts = (pair.client.peerChain, pair.client.peerFingerprint, pair.client.suite)
        #expect(facts.0.isEmpty && facts.1 == nil && facts.2 == nil)
        pair.client.close()
        #expect(pair.client.outputCount == 0)
        #expect(throws: SecurityFault.peer(.truncated)) { try pair.server.end() }
    }

    @Test("a read stops at its limit")
    func limits() throws {
        var channel = SecureChannel.plain()
        try channel.receive((preface + Array(0..<10)).span)
        var buffer = ByteBuffer()
        #expect(try channel.read(into: &buffer, upTo: 4) == .bytes(4))
        #expect(try channel.read(into: &buffer, upTo: 100) == .bytes(6))
        #expect(try channel.read(into: &buffer, upTo: 100) == .needsInput)
    }
}
