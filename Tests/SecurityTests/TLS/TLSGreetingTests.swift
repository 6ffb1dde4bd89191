import MultipeerFraming
import MultipeerSecurity
import TestSupport
import Testing

@Suite("12.8 The first bytes of a connection", .computing)
struct TLSGreetingTests {
    private static func hello(of channel: consuming SecureChannel) throws -> [UInt8] {
        var channel = channel
        var nothing = ByteBuffer()
        _ = try channel.handshake(from: &nothing)
        var bytes: [UInt8] = []
        channel.withOutput { output in
            for index in output.indices { bytes.append(output[index]) }
            return output.count
        }
        return bytes
    }

    private static func invitation() throws -> [UInt8] { try hello(of: InvitationTLS().channel(.client)) }

    @Test(
        "a connection for invitations is known by its protocol, one for a link is not [invite.tls] [tls.alpn]"
    )
    func protocols() throws {
        let invitation = TLSGreeting(try Self.invitation())
        #expect(invitation == .offers([Array("mpc-invite/1".utf8)]))
        #expect(invitation.isForInvitations)
        let identity = try Identity.generated()
        let link = try Self.hello(
            of: .tls(TLSContext(identity: identity), role: .client, accepting: Pair.pins([])))
        #expect(TLSGreeting(link) == .offers([Array("mpc/1".utf8)]))
        #expect(!TLSGreeting(link).isForInvitations)
    }

    @Test("the beginning of it needs more bytes, and what follows it changes nothing")
    func split() throws {
        let hello = try Self.invitation()
        for count in 0..<hello.count { #expect(TLSGreeting(Array(hello.prefix(count))) == .incomplete) }
        #expect(TLSGreeting(hello + [23, 3, 3, 0, 1, 0]) == TLSGreeting(hello))
    }

    @Test("it may be in several records")
    func records() throws {
        let message = Array(try Self.invitation().dropFirst(5))
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: message.count, by: 50) {
            let piece = message[start..<min(start + 50, message.count)]
            bytes += [22, 3, 1, 0, UInt8(piece.count)] + piece
        }
        #expect(TLSGreeting(bytes).isForInvitations)
    }

    @Test("what is no TLS, or too long, is not waited for")
    func others() {
        #expect(TLSGreeting(Array("MPCPLAIN".utf8)) == .unreadable)
        #expect(TLSGreeting([22, 2]) == .unreadable)
        #expect(TLSGreeting([22, 3, 1, 0, 0]) == .unreadable)
        #expect(TLSGreeting([22, 3, 1, 64, 0, 1, 0, 255, 255]) == .unreadable)
        let endless = [22, 3, 1, 64, 0, 1, 0, 32, 0] + [UInt8](repeating: 0, count: TLSGreeting.limit)
        #expect(TLSGreeting(Array(endless.prefix(TLSGreeting.limit - 1))) == .incomplete)
        #expect(TLSGreeting(Array(endless.prefix(TLSGreeting.limit))) == .unreadable)
    }

    @Test("changed bytes end in an answer, whatever they are", arguments: 0..<8)
    func changed(_ seed: Int) throws {
        let hello = try Self.invitation()
        var random = Seeded(UInt64(seed))
        for _ in 0..<500 {
            var bytes = hello
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let early = TLSGreeting(Array(bytes.prefix(cut)))
            #expect(early == .incomplete || early == TLSGreeting(bytes))
        }
    }
}
