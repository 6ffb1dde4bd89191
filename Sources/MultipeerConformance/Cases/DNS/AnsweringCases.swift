/// Chapter 12: how an advertiser answers. Each case has a loopback interface of its own.
enum AnsweringCases {
    private typealias Kind = DNSMessage.Kind

    static let all: [Case] = [
        .advertising(
            "DNS-08", "12.6", "queries are answered, whatever the case of their letters",
            stimulus: "queries for PTR, SRV, TXT and A, each in upper case",
            expectation: "answers; the one about PTR after 20 to 120 ms", rules: ["mdns.answer", "dns.name"],
            bugs: [
                .seen("names-by-case", by: "no answer"),
                .seen("answers-at-once", by: "PTR is answered after"),
            ], isSettled: true
        ) { caseRun, dns, service in
            for (name, type) in [
                (service.type, Kind.ptr), (service.instance, Kind.srv), (service.instance, Kind.txt),
                (service.host, Kind.a),
            ] {
                let delay = try dns.answerTime(name.upperCase, type)
                guard type == Kind.ptr else { continue }
                let range = Duration.milliseconds(15)...Duration.milliseconds(400)
                try caseRun.require(range.contains(delay), "PTR is answered after \(delay)")
            }
        },
        .advertising(
            "DNS-09", "12.6", "a name that S owns has no records but those that exist",
            stimulus: "queries for AAAA of the host and A of the instance",
            expectation: "NSEC without that type",
            rules: ["mdns.nsec"], bugs: [.seen("never-denies", by: "no NSEC")], isSettled: true
        ) { caseRun, dns, service in
            for (name, type) in [(service.host, Kind.aaaa), (service.instance, Kind.a)] {
                dns.forget()
                dns.ask(name, type)
                let denial = dns.record { $0.type == Kind.nsec && $0.name.folded == name.folded }
                guard let denial else { throw CaseFailure("no NSEC for type \(type)") }
                let bits = denial.data.dropFirst(name.wire.count + 2)
                let byte = bits.dropFirst(Int(type) / 8).first ?? 0
                try caseRun.require(byte & (0x80 >> UInt8(type % 8)) == 0, "NSEC has type \(type)")
            }
        },
        .advertising(
            "DNS-10", "12.6", "a resolver at another port gets a usual answer by unicast",
            stimulus: "a query with an id from an ephemeral port",
            expectation: "its id and question, no cache-flush, a TTL of at most 10 s", rules: ["mdns.legacy"],
            bugs: [.seen("legacy-as-usual", by: "answer to a simple resolver")], isSettled: true
        ) { caseRun, dns, service in
            let resolver = try DNSTester(caseRun, isUsual: false)
            var query = DNSMessage.asking(service.instance, Kind.srv)
            query.id = 0x1234
            resolver.send(query)
            guard let answer = resolver.message(within: .seconds(3), where: \.message.isResponse)?.message
            else {
                throw CaseFailure("no answer to a simple resolver")
            }
            let isUsual =
                answer.id == 0x1234 && answer.questions.map(\.name.folded) == [service.instance.folded]
                && answer.records.allSatisfy { $0.ttl <= 10 && !$0.isFlush }
                && answer.answers.contains { $0.port == service.port }
            try caseRun.require(isUsual, "the answer to a simple resolver is another")
        },
        .advertising(
            "DNS-11", "12.6", "known answers are not repeated",
            stimulus: "a query that lists the answer; the same one without it",
            expectation: "no answer; an answer", rules: ["mdns.known-answer"],
            bugs: [.seen("ignores-known-answers", by: "a known answer")], isSettled: true
        ) { caseRun, dns, service in
            let known = DNSMessage.Record.pointer(service.type, to: service.instance)
            var query = DNSMessage.asking(service.type, Kind.ptr)
            query.answers = [known]
            dns.send(query)
            let isAnswer = { (record: DNSMessage.Record) in record.type == Kind.ptr }
            try caseRun.require(
                dns.record(within: .milliseconds(800), where: isAnswer) == nil, "a known answer is repeated")
            _ = try dns.answerTime(service.type, Kind.ptr)
        },
        .advertising(
            "DNS-12", "12.3", "malformed messages are dropped whole",
            stimulus:
                "a query that S would answer, with 513 questions, over 9,000 bytes, a name of 256 bytes, pointers ahead and into the header, an address of 5 bytes, and another opcode",
            expectation: "no answer to any of them; an answer to the next one",
            rules: ["dns.form", "dns.limit", "dns.name", "dns.pointer"],
            bugs: [
                .seen("dns-any-size", by: "is answered"), .seen("dns-any-form", by: "is answered"),
                .seen("dns-long-names", by: "is answered"), .seen("dns-any-pointer", by: "is answered"),
            ], seconds: 30, isSettled: true
        ) { caseRun, dns, service in
            for (what, bytes) in malformed(service) {
                dns.forget()
                dns.send(bytes)
                let answer = dns.record(within: .milliseconds(300)) { $0.type == Kind.srv }
                try caseRun.require(answer == nil, "a message with \(what) is answered")
            }
            _ = try dns.answerTime(service.instance, Kind.srv)
        },
        .advertising(
            "DNS-13", "12.3", "what a receiver ignores does not spoil a message",
            stimulus: "a question of class CH; a good one with bytes after the message, and one of class ANY",
            expectation: "no answer; answers", rules: ["dns.ignored"],
            bugs: [
                .seen("dns-any-class", by: "class CH"), .seen("dns-refuses-trailing", by: "no answer"),
            ], isSettled: true
        ) { caseRun, dns, service in
            var query = DNSMessage.asking(service.instance, Kind.srv)
            query.questions[0].kind = 3
            dns.send(query)
            let isService = { (record: DNSMessage.Record) in record.type == Kind.srv }
            try caseRun.require(
                dns.record(within: .milliseconds(400), where: isService) == nil,
                "a question of class CH is answered")
            query.questions[0].kind = 255
            dns.send(query)
            try caseRun.require(dns.record(where: isService) != nil, "no answer to class ANY")
            // S may repeat an answer only after a second.
            caseRun.loop.wait(.milliseconds(1_100))
            dns.forget()
            dns.send(DNSMessage.asking(service.instance, Kind.srv).bytes + [1, 2, 3])
            try caseRun.require(
                dns.record(where: isService) != nil, "no answer to a message with bytes after it")
        },
    ]

    /// Queries for the service, each with one fault.
    private static func malformed(_ service: AdvertisedService) -> [(String, [UInt8])] {
        let good = DNSMessage.asking(service.instance, Kind.srv)
        let other = DNSMessage.Question(name: .labels("other.local"), type: Kind.a)
        func with(_ what: String, _ record: [UInt8]) -> (String, [UInt8]) {
            // One additional record.
            var bytes = good.bytes
            bytes[11] = 1
            return (what, bytes + record)
        }
        let rest = ByteWriter.bytes {
            $0.u16(Kind.a)
            $0.u16(1)
            $0.u32(120)
            $0.u16(4)
            $0.raw([127, 0, 0, 1])
        }
        var many = good
        many.questions += [DNSMessage.Question](repeating: other, count: 512)
        var long = good
        let text = [String](repeating: String(repeating: "x", count: 250), count: 37)
        long.additionals = [.text(.labels("other.local"), text)]
        var opcode = good
        opcode.flags = 0x2800
        let end = good.bytes.count
        let label: [UInt8] = [63] + [UInt8](repeating: 97, count: 63)
        let five: [UInt8] = [1, 97, 0, 0, 1, 0, 1, 0, 0, 0, 120, 0, 5, 127, 0, 0, 1, 0]
        return [
            ("513 questions", many.bytes), ("\(long.bytes.count) bytes", long.bytes),
            ("opcode 5", opcode.bytes),
            with("a name of 257 bytes", label + label + label + label + [0] + rest),
            with("a pointer ahead", [0xc0, UInt8(end + 2), 1, 97, 0] + rest.dropFirst(0)),
            with("a pointer into the header", [0xc0, 4] + rest), with("an address of 5 bytes", five),
        ]
    }
}

extension DNSTester {
    /// Asks, and returns after how long the answer comes.
    fileprivate func answerTime(_ name: [[UInt8]], _ type: UInt16) throws -> Duration {
        forget()
        let start = ContinuousClock.now
        ask(name, type)
        let isAnswer = { (record: DNSMessage.Record) in
            record.type == type && record.name.folded == name.folded
        }
        let found = message(within: .seconds(3)) {
            $0.message.isResponse && $0.message.answers.contains(where: isAnswer)
        }
        guard let found else { throw CaseFailure("no answer about type \(type)") }
        return found.time - start
    }
}

extension [[UInt8]] {
    fileprivate var upperCase: [[UInt8]] {
        map { label in label.map { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 ? $0 & 0xdf : $0 } }
    }
}
