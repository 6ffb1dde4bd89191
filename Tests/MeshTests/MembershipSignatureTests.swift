import FuzzBodies
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity
import Synchronization
import TestSupport
import Testing

@Suite("11.4 Who made an entry", .computing)
struct MembershipSignatureTests {
    /// Ann, linked with Bob (2) and Cat (3), all with keys; Dan (4) is linked with Bob.
    private func ann() throws -> Member {
        var ann = try Member(1, isKeyed: true)
        for number in [2, 3] {
            ann.link(peer(number))
            try ann.hear(try signedEntry(of: peer(number), 1, [peer(1)]), on: number)
        }
        try ann.hear(try signedEntry(of: peer(4), 5, [peer(2)]), on: 2)
        _ = ann.take()
        return ann
    }

    @Test("the own entry is signed anew with each change [mesh.signature]")
    func own() throws {
        var ann = try Member(1, isKeyed: true)
        #expect(ann.own == (try signedEntry(of: peer(1), 1, [])))
        ann.link(peer(2))
        #expect(ann.own == (try signedEntry(of: peer(1), 2, [peer(2)])))
        ann.unlink(2)
        #expect(ann.own == (try signedEntry(of: peer(1), 3, [])))
    }

    @Test("a changed list, sequence or signature ends the link, and changes nothing [mesh.signature]")
    func forged() throws {
        let true6 = try signedEntry(of: peer(4), 6, [peer(2)])
        var list = true6
        list.members = [peer(2), peer(3)]
        var sequence = true6
        sequence.sequence = 7
        var signature = true6
        signature.signature = MeshFixture.signed(true6, by: peer(3)).signature
        for forged in [list, sequence, signature] {
            var ann = try ann()
            let before = ann.membership.entries
            #expect(throws: Violation.badSignature) { try ann.hear(forged, on: 3) }
            #expect(ann.membership.entries == before)
            #expect(ann.take().isEmpty)
        }
        #expect(Violation.badSignature.closeCode == .badMAC)
        var ann = try ann()
        try ann.hear(true6, on: 3)
        #expect(ann.held(peer(4)) == true6)
    }

    @Test(
        "first-hand entries, those that are set aside, and those of this session are verified, too [mesh.signature]"
    )
    func everywhere() throws {
        for (origin, link) in [(2, 2), (2, 3), (1, 2)] {
            var ann = try ann()
            var forged = try signedEntry(of: peer(origin), 9, [])
            forged.signature[0] ^= 1
            #expect(throws: Violation.badSignature) { try ann.hear(forged, on: link) }
        }
    }

    @Test("an entry with a keyed uid needs the key that the uid is the hash of [mesh.signature] [uid.proof]")
    func keyed() throws {
        let (dan, mallory) = (try Identity.generated(), try Identity.generated())
        let keyed = Endpoint(uid: dan.uid, instance: 4)
        for (identity, isTrue) in [(dan, true), (mallory, false)] {
            var ann = try ann()
            let certificate = identity.chain[0].der
            let data = try MeshFixture.data(of: keyed, certificate: certificate, hasIdentity: true)
            var entry = Members(origin: keyed, sequence: 1, members: [peer(2)], blob: data.bytes)
            entry.certificate = certificate
            entry.signature = SHA256.hash(certificate + entry.signedBytes)
            if isTrue {
                try ann.hear(entry, on: 2)
                #expect(ann.held(keyed) == entry)
            } else {
                #expect(throws: Violation.badSignature) { try ann.hear(entry, on: 2) }
                #expect(ann.held(keyed) == nil)
            }
        }
    }

    @Test("a signature is verified only if the entry would be used [mesh.signature]")
    func economy() throws {
        var ann = try ann()
        var old = try signedEntry(of: peer(4), 5, [])
        old.signature[0] ^= 1
        try ann.hear(old, on: 3)
        ann.link(peer(5))
        ann.unlink(5, hasDeparted: true)
        var departed = try signedEntry(of: peer(5), 9, [])
        departed.signature[0] ^= 1
        try ann.hear(departed, on: 3)
        #expect(ann.held(peer(5)) == nil)
        var own = try #require(ann.own)
        own.signature[0] ^= 1
        try ann.hear(own, on: 3)
        #expect(ann.own?.sequence == own.sequence)
    }

    @Test("the certificate of a member is read once, however many entries of it are verified")
    func certificates() throws {
        let reads = Mutex(0)
        let counting = SignatureVerifier { certificate in
            reads.withLock { $0 += 1 }
            return MeshFixture.verifier.key(of: certificate)
        }
        var membership = Membership(
            peer(1), signer: MeshFixture.signer(of: peer(1)), verifier: counting, seed: 1)
        let now = Moment(nanoseconds: 1_000_000_000)
        membership.linked(
            connection(2), to: peer(2), isMesh: true, key: MeshFixture.fingerprint(of: peer(2)), at: now)
        for sequence in 1...5 {
            try membership.receive(
                signedEntry(of: peer(2), UInt32(sequence), [peer(1)]), on: connection(2), at: now)
        }
        #expect(reads.withLock { $0 } == 1)
        var forged = try signedEntry(of: peer(2), 6, [peer(1)])
        forged.signature[0] ^= 1
        #expect(throws: Violation.badSignature) { try membership.receive(forged, on: connection(2), at: now) }
    }

    @Test("a session with a key takes only signed entries, and one without only unsigned ones [mesh.entry]")
    func kinds() throws {
        let plain = try entry(of: peer(4), 6, [peer(2)])
        let signed = try signedEntry(of: peer(4), 6, [peer(2)])
        var withoutSignature = signed
        withoutSignature.signature = []
        var tooLong = signed
        tooLong.signature = [UInt8](repeating: 0, count: 1_025)
        var tooLarge = signed
        tooLarge.certificate = [UInt8](repeating: 0, count: 4_097)
        let others = MeshFixture.signed(signed, by: peer(3))
        for bad in [plain, withoutSignature, tooLong, tooLarge, others] {
            var ann = try ann()
            #expect(throws: Violation.badEntry(.certificate)) { try ann.hear(bad, on: 3) }
        }
        for bad in [signed, withoutSignature, MeshFixture.signed(plain, by: peer(4))] {
            var bob = try Member(2)
            bob.link(peer(3))
            #expect(throws: Violation.badEntry(.certificate)) { try bob.hear(bad, on: 3) }
        }
    }

    @Test("while an entry of an endpoint is held, one with another key is ignored [mesh.one-key]")
    func secondKey() throws {
        var ann = try ann()
        let held = ann.held(peer(4))
        try ann.hear(try signedEntry(of: peer(4), 9, [peer(3)], key: 1), on: 3)
        #expect(ann.held(peer(4)) == held)
        #expect(ann.take().isEmpty)
        // The first key that comes counts.
        let (false6, true6) = (
            try signedEntry(of: peer(6), 1, [peer(3)], key: 1), try signedEntry(of: peer(6), 7, [peer(2)])
        )
        try ann.hear(false6, on: 3)
        try ann.hear(true6, on: 2)
        #expect(ann.held(peer(6)) == false6)
        // Until a link proves the other one.
        ann.link(peer(6))
        #expect(ann.held(peer(6)) == nil)
        try ann.hear(true6, on: 6)
        try ann.hear(try signedEntry(of: peer(6), 9, [peer(3)], key: 1), on: 3)
        ann.unlink(6)
        #expect(ann.held(peer(6)) == true6)
    }

    @Test(
        "a peer's own entry has the key of its link; an entry of this session with another key is ignored [mesh.one-key]"
    )
    func keyOfLink() throws {
        var ann = try ann()
        let own = ann.own
        try ann.hear(try signedEntry(of: peer(1), 9, [], key: 1), on: 3)
        #expect(ann.own == own)
        let other = try signedEntry(of: peer(3), 9, [peer(1)], key: 1)
        #expect(throws: Violation.badEntry(.foreignKey)) { try ann.hear(other, on: 3) }
        #expect(Violation.badEntry(.foreignKey).closeCode == .protocolError)
    }
}
