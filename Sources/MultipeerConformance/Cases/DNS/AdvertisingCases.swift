import MultipeerPlatform

/// Chapter 12: what an advertiser announces. Each case has a loopback interface of its own.
enum AdvertisingCases {
    private typealias Kind = DNSMessage.Kind

    static let all: [Case] = [
        Case(
            "DNS-01", "12.2", level: .discovery, "a service type is a service name of RFC 6335",
            stimulus: "S is asked to advertise 'Chat', 'a_b', '1234', '-chat', 'a--b' and one of 16 letters",
            expectation: "an error for each, and a port for 'chat-2'", rules: ["service.type"],
            bugs: [.seen("advertises-any-type", by: "is advertised")]
        ) { caseRun in
            let session = try caseRun.session()
            for type in ["Chat", "a_b", "1234", "-chat", "chat-", "a--b", "abcdefghijklmnop", ""] {
                let answer = try session.ask("advertise", ["type": .string(type), "discovery": "none"])
                try caseRun.require(answer["error"] != nil, "'\(type)' is advertised")
            }
            try session.call("advertise", ["type": "chat-2", "discovery": "none"])
            try session.call("unadvertise")
        },
        Case(
            "DNS-02", "12.2", level: .discovery, "attributes have short, printable, distinct keys",
            stimulus:
                "keys of 0 and 65 bytes, with =, with a letter that is not ASCII, mpc, N; a value of 252 bytes",
            expectation: "an error for each", rules: ["service.info"],
            bugs: [.seen("info-unchecked", by: "is advertised")]
        ) { caseRun in
            let session = try caseRun.session()
            let long = String(repeating: "k", count: 65)
            let wrong: [[String: String]] = [
                ["": "1"], [long: "1"], ["a=b": "1"], ["grün": "1"], ["mpc": "1"], ["N": "1"], ["c": "1"],
                ["game": "1", "Game": "2"], ["key": String(repeating: "v", count: 252)],
                Dictionary(
                    uniqueKeysWithValues: (0..<6).map { ("k\($0)", String(repeating: "v", count: 220)) }),
            ]
            for info in wrong {
                let fields: [String: JSONValue] = [
                    "discovery": "none", "info": .object(info.mapValues { .string($0) }),
                ]
                let answer = try session.ask("advertise", fields)
                try caseRun.require(answer["error"] != nil, "\(info.keys.sorted()) is advertised")
            }
            try session.call("advertise", ["discovery": "none", "info": ["game": "chess"]])
            try session.call("unadvertise")
        },
        Case(
            "DNS-03", "12.2", level: .discovery, "an announcement has the names and texts of this protocol",
            stimulus: "S advertises with a name of 62 bytes and an attribute; another session, too",
            expectation:
                "an instance that ends in the uid, TXT with mpc=1, n= and the attribute, a random host; TTL of 120 and 4,500 s",
            rules: ["service.instance", "service.txt", "mdns.host", "mdns.ttl"],
            bugs: [
                .seen("label-without-uid", by: "label"), .seen("text-out-of-order", by: "TXT"),
                .seen("keeps-host", by: "host"), .seen("ttl-of-an-hour", by: "TTL"),
            ], network: .loopback
        ) { caseRun in
            let dns = try DNSTester(caseRun)
            // Twice 31 letters of two bytes: the label has room for 36 bytes of it.
            let name = String(repeating: "ä", count: 31)
            let one = try caseRun.advertised(dns, info: ["game": "chess"], name: name)
            let label = ServiceNames.label(Array(name.utf8), one.session.uid)
            try caseRun.require(one.instance == [label] + one.type, "the label is another")
            try caseRun.require(one.record(Kind.srv)?.port == one.port, "SRV has another port")
            let texts = (one.record(Kind.txt)?.strings ?? []).map { String(decoding: $0, as: UTF8.self) }
            try caseRun.require(
                texts.starts(with: ["mpc=1", "n=\(name)"]) && texts.contains("game=chess"), "TXT is \(texts)")
            for (type, ttl) in [(Kind.srv, 120), (Kind.txt, 4_500), (Kind.ptr, 4_500), (Kind.a, 120)] {
                guard let record = one.record(type) else { throw CaseFailure("no record of type \(type)") }
                try caseRun.require(Int(record.ttl) == ttl, "a TTL of \(record.ttl) for type \(type)")
            }
            let first = String(decoding: one.host.first ?? [], as: UTF8.self)
            let number = [UInt8](hex: String(first.dropFirst(4)))
            try caseRun.require(
                first.hasPrefix("mpc-") && number?.count == 8 && one.host.count == 2, "the host is \(first)")
            try one.session.call("unadvertise")
            caseRun.loop.wait(.milliseconds(400))
            dns.forget()
            let other = try caseRun.advertised(dns)
            try caseRun.require(
                other.host.folded != one.host.folded, "the host is the same at the next start")
            try other.session.call("unadvertise")
        },
        .advertising(
            "DNS-21", "13.8", "the number of a code is announced, and not its words",
            stimulus: "S advertises with the code 7-guitar-island", expectation: "c=7 in TXT",
            rules: ["code.number"], bugs: [.seen("number-unannounced", by: "TXT")], code: "7-guitar-island"
        ) { caseRun, dns, service in
            let texts = (service.record(Kind.txt)?.strings ?? []).map { String(decoding: $0, as: UTF8.self) }
            try caseRun.require(texts.contains("c=7"), "TXT is \(texts)")
        },
        .advertising(
            "DNS-04", "12.6", "a service is announced three times without probes",
            stimulus: "S advertises", expectation: "announcements at 0, 1 and 3 s, and no query before",
            rules: ["mdns.announce", "mdns.probe"],
            bugs: [
                .seen("announces-once", by: "announcements"), .seen("announces-often", by: "announcements"),
                .seen("probes-first", by: "a probe"),
            ]
        ) { caseRun, dns, service in
            caseRun.loop.wait(.seconds(5))
            let probes = dns.heard.filter { !$0.message.isResponse && !$0.message.authorities.isEmpty }
            try caseRun.require(probes.isEmpty, "a probe is sent")
            let times = dns.heard.filter { one in
                one.message.isResponse && one.message.records.contains { $0.type == Kind.srv }
            }.map(\.time)
            try caseRun.require(times.count == 3, "\(times.count) announcements in 5 s")
            let gaps = [times[1] - times[0], times[2] - times[1]]
            try caseRun.require(
                gaps[0] > .milliseconds(700) && gaps[0] < .milliseconds(1_600)
                    && gaps[1] > .milliseconds(1_600) && gaps[1] < .milliseconds(2_800),
                "announcements \(gaps[0]) and \(gaps[1]) apart")
        },
        Case(
            "DNS-05", "12.6", level: .discovery, "an advertiser says goodbye three times",
            stimulus: "S stops advertising", expectation: "three responses with a TTL of 0 within 400 ms",
            rules: ["mdns.goodbye"], bugs: [.seen("goodbye-once", by: "goodbyes")], network: .loopback
        ) { caseRun in
            let dns = try DNSTester(caseRun)
            let service = try caseRun.advertised(dns)
            try service.session.call("unadvertise")
            let isGoodbye = { (one: DNSTester.Heard) in
                one.message.records.contains { $0.type == Kind.ptr && $0.ttl == 0 }
            }
            caseRun.loop.wait(.milliseconds(800)) { dns.heard.count(where: isGoodbye) >= 3 }
            let count = dns.heard.count(where: isGoodbye)
            try caseRun.require(count == 3, "\(count) goodbyes")
        },
        .advertising(
            "DNS-06", "14.2", "after a suspension a service is announced again",
            stimulus: "S's process is stopped for 16 s", expectation: "an announcement within 2 s",
            rules: ["mdns.resume"], bugs: [.seen("resumes-silently", by: "no announcement")], seconds: 60
        ) { caseRun, dns, service in
            caseRun.loop.wait(.seconds(4))
            try caseRun.subject().signal(SIGSTOP)
            caseRun.loop.wait(.seconds(16))
            try caseRun.subject().signal(SIGCONT)
            dns.forget()
            let again = dns.record(within: .seconds(2)) { $0.type == Kind.srv && $0.name == service.instance }
            try caseRun.require(again != nil, "no announcement after the suspension")
        },
        .advertising(
            "DNS-07", "12.6", "a name that another host has is given up",
            stimulus: "T announces S's instance with another host, and defends it when S probes",
            expectation: "S probes, then announces the name with ' (2)' before the hyphen",
            rules: ["mdns.conflict", "mdns.probe"],
            bugs: [.seen("ignores-conflicts", by: "no probe"), .seen("never-renames", by: "is not renamed")],
            seconds: 30
        ) { caseRun, dns, service in
            let rival = DNSMessage.Record.service(
                service.instance, at: .labels("mpc-0123456789abcdef.local"), port: 4_000)
            dns.forget()
            dns.respond([rival])
            let isProbe = { (one: DNSTester.Heard) in
                !one.message.isResponse && one.message.questions.contains { $0.name == service.instance }
                    && !one.message.authorities.isEmpty
            }
            guard dns.message(within: .seconds(3), where: isProbe) != nil else {
                throw CaseFailure("no probe after a conflict")
            }
            dns.respond([rival])
            let label = ServiceNames.label(
                Array(service.session.handle.utf8), service.session.uid, mark: " (2)")
            let renamed = dns.record(within: .seconds(5)) {
                $0.type == Kind.srv && $0.name == [label] + service.type
            }
            try caseRun.require(renamed != nil, "the instance is not renamed")
        },
    ]
}
