import MultipeerSecurity

/// Chapter 11: who made an entry.
enum SignedEntryCases {
    static let all: [Case] = [
        Case(
            "MSH-20", "11.4", level: .mesh,
            "a session signs each of its entries with the key of its certificate",
            stimulus: "T1 links with S by TLS, then T2",
            expectation: "each entry of S has its certificate and a valid signature",
            rules: ["mesh.signature", "mesh.entry"],
            bugs: [.seen("signs-once", by: "signature")], orders: UIDOrder.allCases
        ) { caseRun in
            let (_, endpoint, members) = try caseRun.mesh(2, .init(preference: .required))
            let both = Set(members.map(\.endpoint))
            let last = try members[1].linked().expectEntry(of: endpoint) { Set($0.list) == both }
            try caseRun.requireSigned(last, by: members[1])
            let former = try members[0].linked().expectEntry(of: endpoint)
            try caseRun.requireSigned(former, by: members[0])
        },
        Case(
            "MSH-21", "11.4", level: .mesh, "a member cannot forge an entry of another",
            stimulus:
                "Mallory (T1), linked by TLS, sends entries of Cat, who is linked with T2: signed by Mallory under Cat's certificate, a changed list or sequence under Cat's signature, Mallory's certificate, no signature, one that is too long",
            expectation:
                "BAD_MAC, and PROTOCOL where the certificate or the form is wrong; T2 receives none of them",
            rules: ["mesh.signature", "mesh.entry"],
            bugs: [
                .seen("entry-signature-unchecked", by: "CLOSE(BAD_MAC)"),
                .seen("entry-certificate-unchecked", by: "Mallory's certificate"),
            ], seconds: 60
        ) { caseRun in
            let (session, _, members) = try caseRun.mesh(1, .init(preference: .optional))
            let two = try members[0].linked()
            let cat = try caseRun.member(session, "cat")
            let known = cat.entry([members[0].endpoint])
            two.send(known.frame)
            let (_, blob) = try session.meshData()
            func refused(
                _ what: String, _ code: CloseCode, _ forge: (inout MemberEntry, TLSIdentity?) -> Void
            ) throws {
                caseRun.note(what)
                let mallory = try caseRun.member(session, "mallory")
                try session.connect(mallory.data.bytes)
                let link = try mallory.join(session, blob)
                try link.expectEntry(of: cat.endpoint) { $0.sequence == known.sequence }
                var entry = known
                entry.sequence += 5
                entry.list = [mallory.endpoint]
                entry.sign(with: cat.tester.identity)
                forge(&entry, mallory.tester.identity)
                link.send(entry.frame)
                do { try link.expectClose(code) } catch { throw CaseFailure("\(what): \(error)") }
                try session.expectNotConnected(mallory.endpoint.uid)
            }
            try refused("signed by Mallory", .badMAC) { entry, mallory in
                entry.signature = mallory?.sign(entry.signedBytes) ?? []
            }
            try refused("a changed list", .badMAC) { entry, _ in entry.list = [] }
            try refused("a changed sequence", .badMAC) { entry, _ in entry.sequence += 1 }
            try refused("another label", .badMAC) { entry, _ in
                entry.signature = cat.tester.identity?.sign(Array(entry.signedBytes.dropFirst(14))) ?? []
            }
            try refused("Mallory's certificate", .protocol) { entry, mallory in entry.sign(with: mallory) }
            try refused("no signature", .protocol) { entry, _ in entry.signature = [] }
            try refused("no certificate", .protocol) { entry, _ in entry.sign(with: nil) }
            try refused("a signature of 1,025 bytes", .protocol) { entry, _ in
                entry.signature = .pattern(1_025)
            }
            try two.expectNoEntry(of: cat.endpoint, for: .seconds(1))
            try two.expectAlive()
        },
        Case(
            "MSH-22", "11.4", level: .mesh,
            "while an entry of an endpoint is held, another key cannot replace it",
            stimulus:
                "T1 sends an entry of Cat, then T2 one with a key of its own in Cat's name and a higher sequence, then T1 Cat's next; at last T1 one of itself with another key",
            expectation:
                "the first and the third reach the other; the second reaches none; PROTOCOL for the last",
            rules: ["mesh.one-key"], bugs: [.seen("second-key-believed", by: "of another key")]
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(2, .init(preference: .required))
            let (one, two) = (try members[0].linked(), try members[1].linked())
            let cat = try caseRun.member(session, "cat")
            one.send(cat.entry([members[0].endpoint]).frame)
            try two.expectEntry(of: cat.endpoint)
            two.send(try members[1].impostor(of: cat.endpoint, 100).frame)
            // When this one has come, what came before has been decided.
            let mark = members[1].entry([endpoint])
            two.send(mark.frame)
            try one.expect(mark, before: cat.endpoint)
            let next = cat.entry([members[0].endpoint, endpoint])
            one.send(next.frame)
            let told = try two.expectEntry(of: cat.endpoint)
            try caseRun.require(told == next, "an entry of another key took the place of Cat's")
            one.send(try members[0].impostor(of: members[0].endpoint, 100).frame)
            try one.expectClose(.protocol)
        },
        Case(
            "MSH-23", "11.4", level: .mesh, "members without keys do not sign",
            stimulus: "S and T1 prefer none; then T1 sends an entry with a certificate and a signature",
            expectation: "the entries of S have neither; PROTOCOL", rules: ["mesh.entry"],
            bugs: [.seen("entries-unchecked", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            let (_, endpoint, members) = try caseRun.mesh(1)
            let link = try members[0].linked()
            let own = try link.expectEntry(of: endpoint)
            try caseRun.require(own.certificate.isEmpty && own.signature.isEmpty, "the entry of S is signed")
            link.send(members[0].entry([endpoint]).signed(with: try TLSIdentity()).frame)
            try link.expectClose(.protocol)
        },
    ]
}

extension CaseRun {
    fileprivate func requireSigned(_ entry: MemberEntry, by member: Member) throws {
        let data: ConnectionData
        do throws(Malformed) { data = try ConnectionData(entry.data) } catch {
            throw CaseFailure("mesh data: \(error)")
        }
        try require(
            data.fingerprint == SHA256.hash(entry.certificate), "the certificate is not that of the mesh data"
        )
        try require(
            TLSIdentity.verifies(entry.signature, of: entry.signedBytes, by: entry.certificate),
            "sequence \(entry.sequence) has no valid signature")
    }
}

extension TesterLink {
    /// Waits for an entry; fails when one of `endpoint` comes first.
    fileprivate func expect(_ mark: MemberEntry, before endpoint: Endpoint) throws {
        while true {
            let frame = try expect(.members)
            let entry: MemberEntry
            do throws(Malformed) { entry = try MemberEntry(payload: frame.payload) } catch {
                throw CaseFailure("\(name): MEMBERS: \(error)")
            }
            if entry == mark { return }
            if entry.endpoint == endpoint { throw CaseFailure("\(name): an entry of another key is sent on") }
        }
    }
}

extension Member {
    /// Returns an entry in the name of an endpoint, valid but for its key.
    fileprivate func impostor(of endpoint: Endpoint, _ sequence: UInt32) throws -> MemberEntry {
        let identity = try TLSIdentity()
        var data = data
        data.endpoint = endpoint
        data.fingerprint = identity.fingerprint
        return MemberEntry(
            endpoint, sequence, list: [self.endpoint].filter { $0 != endpoint }, data: data.bytes
        )
        .signed(with: identity)
    }
}
