/// Chapter 12: what a browser asks and reports. Each case has a loopback interface of its own.
enum BrowsingCases {
    private typealias Kind = DNSMessage.Kind

    static let all: [Case] = [
        .browsing(
            "DNS-14", "12.6", "a browser asks with growing pauses, and for multicast",
            stimulus: "S browses; T answers the first query",
            expectation:
                "queries at 0, 1, 3 and 7 s, none for unicast; the later ones list the answer",
            rules: ["mdns.query", "mdns.known-answer"],
            bugs: [
                .seen("queries-once", by: "queries"), .seen("asks-for-unicast", by: "for unicast"),
                .seen("lists-no-answers", by: "does not list"),
            ], seconds: 30
        ) { caseRun, dns, session in
            let other = FoundService(caseRun)
            let isQuery = { (one: DNSTester.Heard) in
                !one.message.isResponse && one.message.questions.contains { $0.type == Kind.ptr }
                    && one.port == 5_353
            }
            guard let first = dns.message(within: .seconds(3), where: isQuery) else {
                throw CaseFailure("no queries are sent")
            }
            dns.respond(other.records)
            caseRun.loop.wait(until: first.time + .milliseconds(5_500)) { false }
            let queries = dns.heard.filter(isQuery)
            let times = queries.map { $0.time - first.time }
            try caseRun.require((3...4).contains(times.count), "\(times.count) queries in 5.5 s")
            let isUnicast = queries.contains { $0.message.questions.contains { $0.kind & 0x8000 != 0 } }
            try caseRun.require(!isUnicast, "a query asks for unicast")
            let lists = queries.last?.message.answers.contains { $0.target?.folded == other.instance.folded }
            try caseRun.require(lists ?? false, "a query does not list the answer")
        },
        .browsing(
            "DNS-15", "12.4",
            "an instance is reported once, when it changes, and when it is gone",
            stimulus:
                "PTR and SRV, later TXT; everything again; another attribute; a goodbye; responses from another port",
            expectation: "found with TXT, found again with the attribute, lost a second after the goodbye",
            rules: ["mdns.lost", "mdns.source"],
            bugs: [
                .seen("never-loses", by: "does not report 'lost'"),
                .seen("takes-any-port", by: "from another port"),
            ],
            seconds: 30
        ) { caseRun, dns, session in
            var other = FoundService(caseRun)
            let stray = try DNSTester(caseRun, isUsual: false)
            stray.respond(other.records)
            try session.expectNoDiscovery("found", for: .milliseconds(800), "from another port")
            dns.respond(other.records.filter { $0.type != Kind.txt })
            try session.expectNoDiscovery("found", for: .milliseconds(500), "without TXT")
            dns.respond(other.records)
            try session.expectDiscovery("found", other)
            dns.respond(other.records)
            try session.expectNoDiscovery("found", for: .milliseconds(500), "twice")
            other.info = ["game": "go"]
            other.strings.append("game=go")
            dns.respond(other.records)
            try session.expectDiscovery("found", other)
            dns.respond(other.goodbyes)
            try session.expectDiscovery("lost", other)
        },
        .browsing(
            "DNS-16", "12.4", "a peer that was started again is reported lost, then found",
            stimulus: "SRV with another host", expectation: "lost, found", rules: ["mdns.restart"],
            bugs: [.seen("restart-unnoticed", by: "does not report 'lost'")]
        ) { caseRun, dns, session in
            var other = FoundService(caseRun)
            dns.respond(other.records)
            try session.expectDiscovery("found", other)
            // Records that are a second older are those of the start before.
            caseRun.loop.wait(.milliseconds(1_200))
            other.host = .labels("mpc-fedcba9876543210.local")
            dns.respond(other.records)
            try session.expectDiscovery("lost", other)
            try session.expectDiscovery("found", other)
        },
        .browsing(
            "DNS-17", "12.2", "instances without a uid or the version are not reported",
            stimulus:
                "labels without a uid and with one whose last bits are not zero; TXT without mpc=1; S's own uid; then one in upper case, and TXT in another order",
            expectation: "only the last is found", rules: ["service.instance", "service.txt", "mdns.self"],
            bugs: [
                .seen("any-instance", by: "label"), .seen("any-text", by: "TXT"),
                .seen("finds-itself", by: "own uid"),
            ]
        ) { caseRun, dns, session in
            var other = FoundService(caseRun)
            let label = other.label
            other.label = Array("only-a-name".utf8)
            dns.respond(other.records)
            other.label = label.dropLast() + [UInt8(ascii: "b")]
            dns.respond(other.records)
            try session.expectNoDiscovery("found", for: .milliseconds(500), "with such a label")
            other.label = label
            other.strings = ["n=someone", "game=chess"]
            dns.respond(other.records)
            other.strings = ["mpc=2", "n=someone"]
            dns.respond(other.records)
            try session.expectNoDiscovery("found", for: .milliseconds(500), "with such a TXT")
            var own = FoundService(caseRun)
            own.uid = session.uid
            own.label = ServiceNames.label(Array("me".utf8), session.uid)
            dns.respond(own.records)
            try session.expectNoDiscovery("found", for: .milliseconds(500), "with its own uid")
            other.strings = ["game=chess", "n=someone", "flag", "mpc=1"]
            other.label = label.map { (97...122).contains($0) ? $0 & 0xdf : $0 }
            other.info = ["game": "chess", "flag": ""]
            dns.respond(other.records)
            try session.expectDiscovery("found", other)
        },
        .browsing(
            "DNS-18", "12.6", "a record is asked for again before it expires",
            stimulus: "an instance whose records live 10 s; T does not answer",
            expectation: "queries for SRV at 80 to 95 % of that; then lost",
            rules: ["mdns.refresh", "mdns.lost"],
            bugs: [.seen("never-refreshes", by: "no query")], seconds: 30
        ) { caseRun, dns, session in
            let other = FoundService(caseRun)
            dns.respond(
                other.records.map { record in
                    var record = record
                    record.ttl = 10
                    return record
                })
            try session.expectDiscovery("found", other)
            caseRun.loop.wait(.milliseconds(6_500))
            dns.forget()
            let query = dns.message(within: .seconds(4)) { one in
                !one.message.isResponse
                    && one.message.questions.contains {
                        $0.name.folded == other.instance.folded && [Kind.srv, Kind.any].contains($0.type)
                    }
            }
            try caseRun.require(query != nil, "no query before the records expire")
            try session.expectDiscovery("lost", other)
        },
        .browsing(
            "DNS-22", "12.6", "a question that another has just asked is not repeated",
            stimulus: "T asks the same 1.5 s after S's second query, half a second before the third is due",
            expectation: "no query for a second and a half", rules: ["mdns.duplicate"],
            bugs: [.seen("repeats-questions", by: "a query is repeated")], seconds: 30
        ) { caseRun, dns, session in
            let isQuery = { (one: DNSTester.Heard) in
                !one.message.isResponse && one.message.questions.contains { $0.type == Kind.ptr }
                    && one.port == 5_353
            }
            caseRun.loop.wait(.seconds(5)) { dns.heard.count(where: isQuery) >= 2 }
            guard let second = dns.heard.last(where: isQuery) else {
                throw CaseFailure("no queries are sent")
            }
            caseRun.loop.wait(until: second.time + .milliseconds(1_500)) { false }
            dns.forget()
            dns.ask(ServiceNames.type("conform"), Kind.ptr)
            let again = dns.message(within: .milliseconds(1_500), where: isQuery)
            try caseRun.require(again == nil, "a query is repeated")
        },
        .browsing(
            "DNS-23", "12.6", "a record that no one answers for is given up",
            stimulus:
                "T announces an instance, then asks for its type after 2 and 4 s, and does not answer",
            expectation: "lost 10 s after the second query", rules: ["mdns.reconfirm"],
            bugs: [
                .seen("never-doubts", by: "does not report 'lost'"),
                .seen("doubts-after-one", by: "too soon"),
            ], seconds: 40
        ) { caseRun, dns, session in
            let other = FoundService(caseRun)
            dns.respond(other.records)
            try session.expectDiscovery("found", other)
            for _ in 0..<2 {
                caseRun.loop.wait(.seconds(2))
                dns.ask(ServiceNames.type("conform"), Kind.ptr)
            }
            try session.expectNoDiscovery("lost", for: .seconds(9), "too soon")
            try session.expectDiscovery("lost", other, within: .seconds(8))
        },
        .browsing(
            "DNS-20", "12.6", "a record replaces older ones of its name and type",
            stimulus: "TXT, 1.5 s later another one with cache-flush, 2 s later a goodbye for that one",
            expectation: "found, found with the other attributes, lost", rules: ["mdns.flush"],
            bugs: [.seen("keeps-old-records", by: "does not report 'lost'")], seconds: 30
        ) { caseRun, dns, session in
            var other = FoundService(caseRun)
            dns.respond(other.records)
            try session.expectDiscovery("found", other)
            caseRun.loop.wait(.milliseconds(1_500))
            other.info = ["game": "go"]
            other.strings.append("game=go")
            dns.respond(other.records)
            try session.expectDiscovery("found", other)
            caseRun.loop.wait(.milliseconds(2_000))
            dns.respond(other.goodbyes.filter { $0.type == Kind.txt })
            try session.expectDiscovery("lost", other)
        },
        .browsing(
            "DNS-19", "12.5", "the instances of a type are limited",
            stimulus: "320 instances", expectation: "256 are reported at most", rules: ["mdns.limit"],
            bugs: [.seen("finds-without-limit", by: "are reported")], seconds: 90
        ) { caseRun, dns, session in
            caseRun.allowance = 4 << 20
            let events = { session.subject.events.count { $0["event"]?.text == "found" } }
            // A few at a time, so that no packet is lost; the last ones are not reported.
            for _ in 0..<40 {
                let before = events()
                for _ in 0..<8 { dns.respond(FoundService(caseRun).records) }
                caseRun.loop.wait(.seconds(2)) { events() >= min(256, before + 8) }
            }
            caseRun.loop.wait(.seconds(1)) { events() > 256 }
            try caseRun.require(events() >= 240, "only \(events()) are reported")
            try caseRun.require(events() <= 256, "\(events()) are reported")
        },
    ]
}

/// A service that the tester announces.
private struct FoundService {
    var uid: [UInt8]
    var label: [UInt8]
    var host: [[UInt8]]
    var info: [String: String] = [:]
    var strings: [String]
    let port: UInt16 = 4_000

    init(_ caseRun: CaseRun) {
        uid = caseRun.random.uid()
        label = ServiceNames.label(Array("someone".utf8), uid)
        host = .labels("mpc-\(caseRun.random.bytes(8).hex).local")
        strings = ["mpc=1", "n=someone"]
    }

    private var type: [[UInt8]] { ServiceNames.type("conform") }
    var instance: [[UInt8]] { [label] + type }

    var records: [DNSMessage.Record] {
        [
            .pointer(type, to: instance), .service(instance, at: host, port: port), .text(instance, strings),
            .address(host, [127, 0, 0, 1]),
        ]
    }

    var goodbyes: [DNSMessage.Record] {
        records.map { record in
            var record = record
            record.ttl = 0
            return record
        }
    }
}

extension SubjectSession {
    fileprivate func expectDiscovery(
        _ word: String, _ service: FoundService, within duration: Duration = .seconds(5)
    ) throws {
        guard let event = event(word, from: service.uid, within: duration) else {
            throw CaseFailure("\(handle) does not report '\(word)' within \(duration)")
        }
        let info = (event["info"]?.members ?? [:]).mapValues { $0.text ?? "" }
        guard word == "lost" || (event["name"]?.text == "someone" && info == service.info) else {
            throw CaseFailure("'\(word)' has another name, or the attributes \(info)")
        }
    }

    fileprivate func expectNoDiscovery(_ word: String, for duration: Duration, _ what: String) throws {
        if event(word, within: duration) != nil { throw CaseFailure("'\(word)' is reported \(what)") }
    }
}
