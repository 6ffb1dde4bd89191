import MultipeerCore
import MultipeerFraming
@testable import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("4.3 Issuing connection data", .computing)
struct IssuingTests {
    private let ann = UID(high: 1, low: 1)
    private let bob = UID(high: 2, low: 2)
    private let start = Moment(nanoseconds: 1_000_000_000_000)

    private func session(_ uid: UID, seed: UInt64 = 1) throws -> LinkEstablishment {
        let peer = try PeerID(validating: uid, displayName: "someone")
        let local = LocalPeer(
            peer: peer, instance: uid.low, preference: .none, hasIdentity: false, fingerprint: nil)
        return LinkEstablishment(local, seed: seed)
    }

    private func issue(
        _ session: inout LinkEstablishment, for recipient: UID?, _ host: UInt8 = 1, token: UInt8,
        after delay: Duration
    ) throws -> ConnectionData {
        let candidate = try #require(Candidate(address: [192, 0, 2, host], port: 50_000))
        return try session.connectionData(
            for: recipient, candidates: [candidate], token: [UInt8](repeating: token, count: 32),
            at: start + delay)
    }

    @Test(
        "data issued again for the same recipient has the same bytes, until its last minute [data.idempotent]",
        arguments: [UID(high: 2, low: 2), nil] as [UID?])
    func idempotent(_ recipient: UID?) throws {
        var session = try session(ann)
        let first = try issue(&session, for: recipient, token: 1, after: .zero)
        let end = HandshakeTiming.lifetime - .seconds(60)
        let again = try issue(&session, for: recipient, token: 2, after: end - .nanoseconds(1))
        #expect(first.bytes == again.bytes)
        let later = try issue(&session, for: recipient, token: 3, after: end)
        #expect(later.token == [UInt8](repeating: 3, count: 32) && later.lifetime == 86_400)
        // What was handed out before is valid for as long as it says.
        let valid = { session.issuer.issued(for: bob, asMember: false, at: start + $0) }
        #expect(valid(HandshakeTiming.lifetime - .nanoseconds(1)) == [later, first])
        #expect(valid(HandshakeTiming.lifetime) == [later])
    }

    @Test("data with a short lifetime is issued again during its first half [data.idempotent]")
    func shortIdempotent() throws {
        var session = try session(ann)
        let candidate = try #require(Candidate(address: [192, 0, 2, 1], port: 50_000))
        let tokens = try [0, 999, 1_000, 1_999, 2_000].map { milliseconds in
            try session.connectionData(
                for: bob, candidates: [candidate],
                token: [UInt8](repeating: UInt8(milliseconds % 251), count: 32), lifetime: .seconds(2),
                at: start + .milliseconds(milliseconds)
            ).token[0]
        }
        #expect(tokens == [0, 0, 1_000 % 251, 1_000 % 251, 2_000 % 251].map(UInt8.init))
    }

    @Test(
        "new addresses make new data with the same token, and old addresses the old data [data.idempotent]"
    )
    func moved() throws {
        var session = try session(ann)
        let first = try issue(&session, for: bob, 1, token: 1, after: .zero)
        let moved = try issue(&session, for: bob, 2, token: 2, after: .seconds(1))
        #expect(moved != first && moved.token == first.token)
        #expect(try issue(&session, for: bob, 1, token: 3, after: .seconds(2)).bytes == first.bytes)
    }

    @Test("however often the addresses change, every version stays valid until it expires [data.idempotent]")
    func versions() throws {
        var (one, other) = (try session(ann), try session(bob, seed: 2))
        let first = try issue(&one, for: bob, 1, token: 1, after: .zero)
        for host in UInt8(2)...20 { _ = try issue(&one, for: bob, host, token: host, after: .seconds(1)) }
        #expect(try issue(&one, for: bob, 1, token: 3, after: .seconds(2)).bytes == first.bytes)
        _ = try issue(&one, for: bob, 2, token: 3, after: .seconds(3))

        let data = try issue(&other, for: ann, token: 9, after: .zero)
        #expect(try one.connect(with: data, zones: [], at: start + .seconds(3)))
        let id = one.accepted(at: start + .seconds(3))
        one.secured(id, .plain, nonce: [UInt8](repeating: 4, count: 32), at: start + .seconds(3))
        _ = one.takeActions()
        var hello = ByteBuffer()
        Hello(
            versions: [1], sender: data.endpoint, receiver: first.endpoint, myDataReference: data.reference,
            yourDataReference: first.reference, nonce: [UInt8](repeating: 5, count: 32)
        ).encode(into: &hello)
        let frame = hello.takeAll()
        let header = FrameHeader(.hello, length: frame.count - FrameHeader.byteCount)
        one.receive(
            id, header, frame.span.extracting(FrameHeader.byteCount..<frame.count), at: start + .seconds(3))
        #expect(one.phase(of: id) == .deciding(confirmed: false))
    }

    @Test(
        "data is held for 1,024 peers: the oldest is forgotten, but not that of one that is connecting [limit.issued]"
    )
    func crowd() throws {
        var (one, two) = (try session(ann), try session(bob, seed: 2))
        let firsts = try issue(&one, for: bob, token: 1, after: .zero)
        let bobs = try issue(&two, for: ann, token: 1, after: .zero)
        _ = try issue(&one, for: UID(high: 3, low: 0), token: 2, after: .seconds(1))
        #expect(try one.connect(with: bobs, zones: [], at: start + .seconds(1)))
        for number in 1...1_500 as ClosedRange<UInt64> {
            _ = try issue(&one, for: UID(high: 3, low: number), token: 2, after: .seconds(2))
        }
        #expect(one.issuer.count == 1_024)
        #expect(try issue(&one, for: bob, token: 9, after: .seconds(3)).bytes == firsts.bytes)
        let again = try issue(&one, for: UID(high: 3, low: 0), token: 9, after: .seconds(3))
        #expect(again.token == [UInt8](repeating: 9, count: 32))
        // What has expired is forgotten first.
        for number in 0...1_100 as ClosedRange<UInt64> {
            _ = try issue(&one, for: UID(high: 4, low: number), token: 3, after: .seconds(90_000))
        }
        #expect(one.issuer.count <= 1_024)
    }

    @Test("each peer gets its own data, and the open data is different again [data.recipient]")
    func recipients() throws {
        var session = try session(ann)
        let forBob = try issue(&session, for: bob, token: 1, after: .zero)
        let open = try issue(&session, for: nil, token: 2, after: .zero)
        let other = try issue(&session, for: UID(high: 3, low: 3), token: 3, after: .zero)
        #expect(Set([forBob, open, other].map(\.token)).count == 3)
        #expect([forBob, open, other].map(\.recipient) == [bob, nil, UID(high: 3, low: 3)])
    }

    @Test("a session connects to no peer with its own data [data.self]")
    func itself() throws {
        var one = try session(ann)
        let own = try issue(&one, for: nil, token: 1, after: .zero)
        #expect(throws: LinkEstablishment.Refusal.itself) { try one.connect(with: own, zones: [], at: start) }
        // A restarted session of the same peer is the same peer.
        var again = try session(ann, seed: 2)
        #expect(throws: LinkEstablishment.Refusal.itself) {
            try again.connect(with: own, zones: [], at: start)
        }
    }

    @Test("data addressed to another peer is refused, open data is accepted by any [data.recipient]")
    func recipient() throws {
        var one = try session(ann)
        let forBob = try issue(&one, for: bob, token: 1, after: .zero)
        let open = try issue(&one, for: nil, token: 2, after: .zero)
        for (uid, isBob) in [(bob, true), (UID(high: 3, low: 3), false)] {
            var holder = try session(uid)
            _ = try issue(&holder, for: ann, token: 4, after: .zero)
            #expect(try holder.connect(with: open, zones: [], at: start))
            if isBob {
                #expect(try holder.connect(with: forBob, zones: [], at: start))
            } else {
                #expect(throws: LinkEstablishment.Refusal.anotherRecipient) {
                    try holder.connect(with: forBob, zones: [], at: start)
                }
            }
        }
    }

    @Test(
        "a HELLO that refers to data is accepted until the data expires by the issuer's clock [data.expiry]")
    func expiry() throws {
        for (delay, isGood) in [
            (HandshakeTiming.lifetime - .nanoseconds(1), true), (HandshakeTiming.lifetime, false),
        ] {
            var issuer = try session(ann)
            var holder = try session(bob)
            let issued = try issue(&issuer, for: bob, token: 1, after: .zero)
            let own = try issue(&holder, for: ann, token: 2, after: .seconds(86_390))
            #expect(try issuer.connect(with: own, zones: [], at: start + .seconds(86_390)))
            _ = issuer.takeActions()
            let id = issuer.accepted(at: start + delay)
            issuer.secured(id, .plain, nonce: [UInt8](repeating: 0, count: 32), at: start + delay)
            let hello = Hello(
                versions: [1], sender: own.endpoint, receiver: issued.endpoint,
                myDataReference: own.reference,
                yourDataReference: issued.reference, nonce: [UInt8](repeating: 1, count: 32))
            var buffer = ByteBuffer()
            hello.encode(into: &buffer)
            let frame = buffer.takeAll()
            issuer.receive(
                id, FrameHeader(frame.span.extracting(0..<8)), frame.span.extracting(8..<frame.count),
                at: start + delay)
            #expect(issuer.takeActions().contains(.close(id, .unknownPeer)) != isGood)
        }
    }

    @Test("data may be issued with a shorter lifetime, except mesh data")
    func shortLived() throws {
        var issuer = try session(ann)
        let candidate = try #require(Candidate(address: [192, 0, 2, 1], port: 50_000))
        for (recipient, flags, expected) in [
            (UID?.some(bob), ConnectionData.Flags.mesh, UInt32(2)), (nil, [], 2), (nil, .mesh, 86_400),
        ] {
            let data = try issuer.connectionData(
                for: recipient, candidates: [candidate], flags: flags,
                token: [UInt8](repeating: 1, count: 32), lifetime: .seconds(2), at: start)
            #expect(data.lifetime == expected)
        }
    }
}
