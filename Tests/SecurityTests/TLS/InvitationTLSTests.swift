import MultipeerSecurity
import TestSupport
import Testing

@Suite("12.8 TLS of invitations", .computing)
struct InvitationTLSTests {
    @Test("each end has its own certificate, and accepts any of the peer [invite.tls]")
    func anyone() throws {
        let (inviter, invitee) = (try InvitationTLS(), try InvitationTLS())
        var pair = Pair(client: try inviter.channel(.client), server: try invitee.channel(.server))
        let isDone = try pair.shakeHands()
        #expect(isDone)
        let seen = [pair.client.peerFingerprint, pair.server.peerFingerprint]
        #expect(seen[0] != nil && seen[1] != nil && seen[0] != seen[1])
    }

    @Test("the invited end's key log has what a capture of an invitation needs")
    func keyLog() throws {
        let lines = Lines()
        let (inviter, invitee) = (try InvitationTLS(keyLog: KeyLog { lines.add($0) }), try InvitationTLS())
        var pair = Pair(client: try inviter.channel(.client), server: try invitee.channel(.server))
        #expect(try pair.shakeHands())
        let names = lines.all.map { String($0.prefix { $0 != " " }) }
        #expect(names.filter { $0 == "CLIENT_TRAFFIC_SECRET_0" }.count == 1)
        #expect(names.contains("SERVER_TRAFFIC_SECRET_0"))
    }

    @Test(
        "a TLS context for links does not work for invitations, nor the reverse [invite.tls]",
        arguments: [true, false])
    func others(_ isInvitationServer: Bool) throws {
        let identity = try Identity.generated()
        let link = try TLSContext(identity: identity)
        let invitation = try InvitationTLS()
        var pair =
            isInvitationServer
            ? Pair(
                client: try .tls(link, role: .client, accepting: Pair.pins([identity.fingerprint])),
                server: try invitation.channel(.server))
            : Pair(
                client: try invitation.channel(.client),
                server: try .tls(link, role: .server, accepting: Pair.pins([identity.fingerprint])))
        let isDone = try pair.shakeHands()
        #expect(!isDone)
        #expect(pair.serverFault != nil)
    }
}
