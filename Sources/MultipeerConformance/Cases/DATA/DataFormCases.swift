/// Chapter 4: what connection data contains, and what is refused.
enum DataFormCases {
    private typealias Field = ConnectionData.Field

    static let all: [Case] = [
        Case(
            "DATA-01", "4.1", "the subject's own data complies with every rule",
            stimulus: "T asks for data, addressed and open",
            expectation:
                "at most 1,024 bytes that T can read, with S's uid, no forbidden candidate, and a GREASE entry",
            rules: [
                "data.length", "data.peer", "data.candidates", "data.lifetime", "data.recipient", "tlv.order",
                "tlv.grease", "peer.name",
            ],
            bugs: [
                .seen("data-unsorted", by: "after entry"), .seen("data-without-lifetime", by: "is missing"),
                .seen("data-to-anybody", by: "addressed to another peer"),
                .seen("never-greases", by: "no GREASE entry"),
            ]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .optional))
            var greased = 0
            for index in 0..<8 {
                let peer: [UInt8]? = index == 0 ? nil : caseRun.random.bytes(16)
                let data = try ConnectionData(ofSubject: session.data(for: peer))
                try caseRun.require(data.endpoint.uid == session.uid, "the data has another uid")
                try caseRun.require(data.recipient == peer, "the data is addressed to another peer")
                try caseRun.require(data.preference == .optional, "the data has another preference")
                try caseRun.require(
                    data.flags & ConnectionData.Flag.mesh == 0, "MESH is set, but was not requested")
                try caseRun.require(data.token.contains { $0 != data.token[0] }, "the token is not random")
                try caseRun.require(data.lifetime > 0, "the lifetime is 0")
                try caseRun.require(
                    data.candidates.allSatisfy { $0.port >= 1_024 }, "a candidate has a low port")
                greased += data.extra.isEmpty ? 0 : 1
            }
            if greased == 0 {
                caseRun.weak("no GREASE entry in eight pieces of connection data [tlv.grease]")
            }
        },
        Case(
            "DATA-02", "4.1", "the longest data with the most candidates is accepted",
            stimulus: "data of 1,024 bytes with 16 candidates", expectation: "connected",
            rules: ["data.length", "data.candidates"], bugs: ["data-limit-512"], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair { data in
                let port = data.candidates[0].port
                data.candidates += (2..<17).map { Candidate(address: [127, 0, 0, $0], port: port) }
                let room = 1_024 - data.bytes.count - 4
                data.extra.append(TLVEntry(0x3a3a, caseRun.random.bytes(room)))
            }
            try caseRun.require(
                pair.linkParameters.mine.count == 1_024, "the suite's data is not 1,024 bytes long")
            _ = try pair.link()
        },
        Case(
            "DATA-03", "2.3", "unknown entries are ignored",
            stimulus: "GREASE entry 0x1A1A and unknown entry 0x0077",
            expectation: "connected", rules: ["tlv.unknown", "ext.grease"],
            bugs: ["data-refuses-unknown", "refuses-grease"],
            orders: UIDOrder.allCases
        ) { caseRun in
            _ = try caseRun.pair { $0.extra = [TLVEntry(0x77, [1, 2, 3]), TLVEntry(0x1a1a, [])] }.link()
        },
        Case(
            "DATA-04", "2.3", "an unknown critical entry refuses the data", stimulus: "entry 0x8001",
            expectation: "PROTOCOL, nothing is dialled", rules: ["tlv.critical"],
            bugs: [.seen("data-ignores-critical", by: "the data is taken")]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            try strangers.refuse(.protocol, "0x8001") { $0.extra = [TLVEntry(0x8001, [])] }
            try strangers.refuse(.protocol, "0xfaff") { $0.extra = [TLVEntry(0xfaff, [1])] }
        },
        Case(
            "DATA-05", "2.3", "entries out of order, or twice, refuse the data",
            stimulus: "each pair of neighbours swapped; each entry twice; an unknown entry twice",
            expectation: "PROTOCOL for each", rules: ["tlv.order", "tlv.duplicate"],
            bugs: [
                .seen("data-ignores-order", by: "the data is taken"),
                .seen("data-ignores-duplicates", by: "the data is taken"),
            ]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let entries = strangers.tester.data(for: strangers.session.uid).entries
            for index in entries.indices.dropLast() {
                var swapped = entries
                swapped.swapAt(index, index + 1)
                try strangers.refuse(
                    .protocol, "swapped at \(index)", ConnectionData.bytes(swapped))
            }
            for index in entries.indices where entries[index].type != Field.candidate {
                var doubled = entries
                doubled.insert(entries[index], at: index)
                try strangers.refuse(
                    .protocol, "twice at \(index)", ConnectionData.bytes(doubled))
            }
            let unknown = entries + [TLVEntry(0x77, []), TLVEntry(0x77, [])]
            try strangers.refuse(.protocol, "0x77 twice", ConnectionData.bytes(unknown))
        },
        Case(
            "DATA-06", "4.2", "data that is cut off is refused", stimulus: "every prefix of good data",
            expectation: "PROTOCOL for each", rules: ["data.length", "tlv.length"],
            bugs: [.seen("data-crashes-short", by: "is not answered")],
            seconds: 40
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let bytes = strangers.tester.data(for: strangers.session.uid).bytes
            try strangers.refuse((0..<bytes.count).map { (Array(bytes[..<$0]), .protocol) })
        },
        Case(
            "DATA-07", "4.2", "data with one wrong bit is refused", stimulus: "every single bit flipped",
            expectation: "PROTOCOL; VERSION where it is the version that changed",
            rules: ["data.checksum", "data.magic"],
            bugs: [.seen("data-ignores-checksum", by: "taken, not PROTOCOL")], seconds: 60
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let bytes = strangers.tester.data(for: strangers.session.uid).bytes
            let flipped = (0..<(bytes.count * 8)).map { bit in
                var copy = bytes
                copy[bit / 8] ^= 1 << UInt8(bit % 8)
                return (copy, bit / 8 == 4 ? CloseCode.version : .protocol)
            }
            try strangers.refuse(flipped)
        },
        Case(
            "DATA-08", "4.2", "data of another version is refused", stimulus: "versions 0, 2 and 255",
            expectation: "VERSION", rules: ["data.version"],
            bugs: [.seen("data-ignores-version", by: "the data is taken")]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let entries = strangers.tester.data(for: strangers.session.uid).entries
            for version: UInt8 in [0, 2, 255] {
                let bytes = ConnectionData.bytes(entries, version: version)
                try strangers.refuse(.version, "version \(version)", bytes)
            }
        },
        Case(
            "DATA-09", "3.1", "invalid display names are refused",
            stimulus: "0 and 64 bytes, invalid UTF-8, control and text direction characters",
            expectation: "PROTOCOL for each; 63 bytes are accepted", rules: ["peer.name", "data.peer"],
            bugs: [.seen("name-unchecked", by: "the data is taken")]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let wrong: [[UInt8]] = [
                [], Array(repeating: 0x61, count: 64), [0x61, 0], [0x61, 0x1b, 0x5b], [0x61, 0x7f],
                [0xff], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
                [0xe2, 0x82],
                Array("a\u{85}".utf8), Array("\u{202a}a".utf8), Array("a\u{202e}".utf8),
                Array("\u{2066}".utf8),
                Array("a\u{2069}b".utf8),
            ]
            for name in wrong { try strangers.refuse(.protocol, "name \(name.hex)") { $0.name = name } }
            for name in [Array(repeating: 0x61, count: 63), Array("Ann \u{1f600}\u{200f}".utf8)] {
                _ = try caseRun.pair { $0.name = name }
            }
        },
        Case(
            "DATA-10", "4.2", "invalid preferences are refused",
            stimulus: "3, 255, two bytes, none at all",
            expectation: "PROTOCOL", rules: ["data.preference"],
            bugs: [.seen("data-any-preference", by: "the data is taken")]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            try strangers.refuse(.protocol, "preference 3") { $0.with(Field.preference, [3]) }
            try strangers.refuse(.protocol, "preference 255") { $0.with(Field.preference, [255]) }
            try strangers.refuse(.protocol, "two bytes") { $0.with(Field.preference, [0, 2]) }
            try strangers.refuse(.protocol, "no preference") { $0.without(Field.preference) }
        },
        Case(
            "DATA-11", "4.2", "a fingerprint must be there when it is needed, and only then",
            stimulus: "required without one, algorithm 2, 31 bytes, none with one", expectation: "PROTOCOL",
            rules: ["data.fingerprint"], bugs: [.seen("data-fingerprint-optional", by: "the data is taken")]
        ) { caseRun in
            let print = caseRun.random.bytes(32)
            let strangers = try UnpairedSession(caseRun)
            for preference: UInt8 in [0, 1] {
                try strangers.refuse(.protocol, "no fingerprint with \(preference)") {
                    $0.with(Field.preference, [preference])
                }
                try strangers.refuse(.protocol, "algorithm 2") {
                    $0.with(Field.preference, [preference]).with(Field.fingerprint, [2] + print)
                }
                try strangers.refuse(.protocol, "31 bytes") {
                    $0.with(Field.preference, [preference]).with(Field.fingerprint, [1] + print.dropLast())
                }
            }
            try strangers.refuse(.protocol, "a fingerprint with none") {
                $0.with(Field.fingerprint, [1] + print)
            }
        },
        Case(
            "DATA-20", "2.3", "an entry that ends outside its list refuses the data",
            stimulus: "the last entry of good data says that it is one byte, and 60,000 bytes, longer",
            expectation: "PROTOCOL", rules: ["tlv.length"],
            bugs: [.seen("tlv-length-unchecked", by: "the data is taken")]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            for more in [1, 60_000] {
                var data = strangers.tester.data(for: strangers.session.uid)
                data.extra = [TLVEntry(0x7a7a, [1, 2, 3, 4])]
                var bytes = Array(data.bytes.dropLast(8))
                let length = bytes.count - 6
                bytes[length] = UInt8((4 + more) >> 8)
                bytes[length + 1] = UInt8((4 + more) & 255)
                try strangers.refuse(.protocol, "\(more) bytes more", ConnectionData.sealed(bytes))
            }
        },
        Case(
            "DATA-21", "3.1", "a random uid is a UUID of version 4",
            stimulus: "two sessions for which T names no uid", expectation: "two different ones",
            rules: ["peer.uid-random"], bugs: [.seen("uid-of-no-version", by: "is no UUID")]
        ) { caseRun in
            let answers = try (0..<2).map { _ in
                try caseRun.subject().call(
                    "session",
                    ["name": .string("random-\(caseRun.random.next() % 1_000)"), "preference": "none"])
            }
            let uids = try answers.map { answer in
                guard let uid = answer["uid"]?.text.flatMap({ [UInt8](hex: $0) }), uid.count == 16 else {
                    throw CaseFailure("'session' returns no uid")
                }
                return uid
            }
            for answer in answers {
                try caseRun.subject().call("forget", ["session": answer["name"] ?? .null])
            }
            for uid in uids {
                try caseRun.require(
                    uid[6] >> 4 == 4 && uid[8] >> 6 == 0b10, "\(uid.hex) is no UUID of version 4")
            }
            try caseRun.require(uids[0] != uids[1], "two sessions have the same uid")
        },
        Case(
            "DATA-22", "4.2", "data with another magic is refused",
            stimulus: "MPCE, mpcd, zeros, each with the right checksum", expectation: "PROTOCOL",
            rules: ["data.magic"], bugs: [.seen("data-any-magic", by: "the data is taken")]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            let bytes = strangers.tester.data(for: strangers.session.uid).bytes
            for magic in [Array("MPCE".utf8), Array("mpcd".utf8), [0, 0, 0, 0]] {
                try strangers.refuse(
                    .protocol, "magic \(magic.hex)",
                    ConnectionData.sealed(magic + bytes.dropFirst(4).dropLast(8)))
            }
        },
        Case(
            "DATA-23", "4.1", "unknown flags are ignored", stimulus: "data with the flags 3 to 7",
            expectation: "connected", rules: ["data.flags"], bugs: ["data-refuses-flags"],
            orders: UIDOrder.allCases
        ) { caseRun in
            _ = try caseRun.pair { $0.flags |= 0xf8 }.link()
        },
        Case(
            "DATA-19", "4.2", "a keyed uid needs an identity",
            stimulus: "a keyed uid without IDENTITY; with preference none", expectation: "PROTOCOL",
            rules: ["data.keyed"], bugs: [.seen("data-keyed-unchecked", by: "the data is taken")]
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .optional))
            for preference in [Preference.none, .optional, .required] {
                let tester = try caseRun.keyedTester(beside: session, preference: preference)
                tester.flags = preference == .none ? ConnectionData.Flag.identity : 0
                try UnpairedSession(session, tester).refuse(
                    .protocol, "\(preference)", tester.data(for: session.uid).bytes)
            }
        },
        Case(
            "DATA-17", "4.2", "entries that are missing or of the wrong size refuse the data",
            stimulus: "PEER, INSTANCE, TOKEN, LIFETIME, RECIPIENT and CANDIDATE missing, too short, too long",
            expectation: "PROTOCOL",
            rules: ["data.instance", "data.token", "data.lifetime", "data.candidates", "data.peer"],
            bugs: [
                .seen("data-token-unchecked", by: "the data is taken"),
                .seen("data-any-instance", by: "the data is taken"),
                .seen("data-without-peer", by: "no PEER: "),
                .seen("data-any-candidates", by: "the data is taken"),
            ]
        ) { caseRun in
            let strangers = try UnpairedSession(caseRun)
            for (field, size) in [
                (Field.instance, 8), (Field.token, 32), (Field.lifetime, 4), (Field.recipient, 16),
            ] {
                for count in [0, size - 1, size + 1] {
                    try strangers.refuse(.protocol, "entry \(field) of \(count) bytes") {
                        $0.with(field, [UInt8](repeating: 7, count: count))
                    }
                }
                guard field != Field.recipient else { continue }
                try strangers.refuse(.protocol, "no entry \(field)") { $0.without(field) }
            }
            try strangers.refuse(.protocol, "no PEER") { $0.without(Field.peer) }
            try strangers.refuse(.protocol, "no CANDIDATE") { $0.without(Field.candidate) }
            let bad: [[UInt8]] = [
                [5, 16, 0, 127, 0, 0, 1], [4, 16, 0, 127, 0, 0], [4] + .pattern(18),
                [6, 16, 0, 127, 0, 0, 1], [],
            ]
            for value in bad {
                try strangers.refuse(.protocol, "CANDIDATE \(value.hex)") { $0.with(Field.candidate, value) }
            }
            try strangers.refuse(.protocol, "17 candidates") { entries in
                entries.without(Field.candidate)
                    + (1...17).map { TLVEntry(Field.candidate, [4, 16, 0, 127, 0, 0, $0]) }
            }
        },
    ]
}
