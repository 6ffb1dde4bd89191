import Foundation
import FoundationXML
import TestSupport
import Testing

@testable import MultipeerConformance

@Suite("Reports of the conformance suite", .computing)
struct ReportTests {
    private static let hostile = "<script>alert(1)</script> ' \" & ]]> \u{1b}[31m\u{202e}\r\n# not ok 1 a | b"
    private static let token = [UInt8](repeating: 0xa7, count: 32)

    /// The data of a peer whose name is hostile, as the log has it.
    private static let data = ConnectionData(
        endpoint: Endpoint(uid: .pattern(16), instance: .pattern(8)), name: Array("<b>&".utf8),
        preference: .none, token: token, candidates: [.loopback(4_000)]
    ).bytes.hex

    /// What a case leaves in the log: the preamble, the case, and the moment at which it was decided.
    private static func log(_ reason: String) -> [TrafficLog.Line] {
        let log = TrafficLog()
        log.add(.asked, #"{"id":1,"op":"data"}"#)
        log.add(.told, #"{"ok":true,"re":1,"data":"\#(data)"}"#)
        log.add(.received, "link 1", .close(.goodbye, reason: hostile))
        log.add(.stage, "LINK-11: a case")
        log.add(.note, "link 2: dialled, plain")
        log.add(.sent, "link 2", .ping())
        for _ in 0..<5 { log.add(.received, "link 2", .part(.pattern(2_000))) }
        log.add(.received, "link 2", .open(3, name: Array(hostile.utf8), size: 9))
        log.add(.told, #"{"event":"message","from":"00","size":5,"name":"<i>"}"#)
        log.add(.note, "stderr: \(hostile)")
        log.add(.received, "link 2: refused (\(hostile))")
        log.add(.verdict, "FAIL: \(reason)")
        return log.lines
    }

    static func report(
        _ reason: String = hostile, seed: UInt64 = 7, isStrict: Bool = false,
        _ verdicts: [CaseVerdict] = [.pass, .fail]
    ) throws -> Report {
        let one = try #require(Suite.cases.first { $0.id == "LINK-11" })
        let outcomes = zip(UIDOrder.allCases, verdicts).map {
            CaseOutcome(
                subject: one, order: $0, repetition: 0, verdict: $1, reason: $1 == .pass ? "" : reason,
                isOfProcess: false, seconds: 0.512, log: log(reason))
        }
        let order = Report.Invocation(shim: "shim <&> \(hostile)", seed: seed, isStrict: isStrict)
        return Report(order, outcomes)
    }

    /// Returns the elements and the text of XML; throws where it is not well formed.
    private static func parse(_ text: String) throws -> Elements {
        let elements = Elements()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = elements
        try #require(parser.parse(), "line \(parser.lineNumber): \(String(describing: parser.parserError))")
        return elements
    }

    @Test("each format names the case that failed, what was expected and what was received")
    func forms() throws {
        let report = try ReportTests.report("a | b < c")
        let expected = report.outcomes[0].subject.expectation
        #expect(report.text.contains("LINK-11/tester-higher"))
        #expect(report.text.contains(expected))
        #expect(report.text.contains("1 PASS, 1 FAIL; seed 7"))
        #expect(report.markdown.contains("a \\| b \\< c"))
        #expect(report.junit.contains("failures=\"1\""))
        #expect(report.junit.contains("a | b &lt; c"))
        #expect(report.html().contains("a | b &lt; c"))
    }

    @Test(
        "the page is well formed and needs nothing else: no script, style sheet, image or address outside the specification"
    )
    func page() throws {
        let elements = try ReportTests.parse(try ReportTests.report().html())
        #expect(
            elements.names.isDisjoint(with: ["script", "img", "link", "iframe", "object", "base", "form"]))
        #expect(elements.addresses.allSatisfy { $0.hasPrefix("#") || $0.hasPrefix("Spec/") })
        #expect(elements.addresses.contains("Spec/06-link.md#:~:text=%5Bconfirm.mac%5D"))
        #expect(!elements.attributes.contains { $0.hasPrefix("on") || $0 == "src" })
        #expect(elements.text.contains("512 ms") && elements.text.contains("§ 6.3"))
    }

    @Test(
        "a case that failed has a sequence diagram: frames with fields, ends, and where it was decided; the rest is folded"
    )
    func diagram() throws {
        let page = try ReportTests.report("late").html()
        #expect(page.components(separatedBy: "<svg").count == 3)
        #expect(page.contains("before the case: an exchange that must work</summary>"))
        for text in [
            "CLOSE(GOODBYE)", "MSG_PART ×5", "channel 3, stream", "link 2: refused", "reports: message",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        let drawing = try #require(page.components(separatedBy: "<figure>").last)
        let places = ["PING", "MSG_PART", "OPEN", "FAIL: late", "decided after"].map {
            drawing.firstRange(of: $0)
        }
        #expect(places.allSatisfy { $0 != nil })
        #expect(places.compactMap { $0?.lowerBound } == places.compactMap { $0?.lowerBound }.sorted())
    }

    @Test("what a hostile peer says is escaped, and cannot add lines or elements")
    func hostile() throws {
        let report = try ReportTests.report()
        let page = try ReportTests.parse(report.html())
        #expect(!page.names.contains("b") && !page.names.contains("i"))
        let junit = try ReportTests.parse(report.junit)
        #expect(junit.count("testcase") == 2 && junit.count("failure") == 1)
        for text in [report.html(), report.junit, report.tap, report.text, report.markdown] {
            let isTame = text.unicodeScalars.allSatisfy {
                $0 == "\n" || !["\u{1b}", "\u{202e}", "\r"].contains($0)
            }
            #expect(isTame)
        }
    }

    @Test("reports contain no token of connection data, not even a part of one")
    func secrets() throws {
        let report = try ReportTests.report("refused \(ReportTests.data)")
        let json = String(decoding: try report.json(), as: UTF8.self)
        for text in [report.html(), report.junit, report.tap, report.text, report.markdown, json] {
            #expect(!text.contains("a7a7"))
        }
        #expect(json.contains("<token>"))
        let cut = String(ReportTests.data.prefix(ReportTests.data.count - 80))
        #expect(!cut.withoutTokens.contains("a7a7") && cut.contains("a7a7"))
        #expect("4d50434401".withoutTokens == "4d50434401")
    }

    @Test("TAP has a plan, a numbered line for each outcome, and what was expected of the one that failed")
    func tap() throws {
        let lines = try ReportTests.report("a # SKIP \"b\"", [.skip, .fail]).tap.split(separator: "\n")
        #expect(lines.first == "TAP version 14" && lines[1] == "1..2")
        let tests = lines.filter { $0.hasPrefix("ok") || $0.hasPrefix("not ok") }
        #expect(tests.count == 2)
        #expect(tests[0].hasPrefix("ok 1 - LINK-11/tester-lower ") && tests[0].contains(" # SKIP a # SKIP"))
        #expect(tests[1].hasPrefix("not ok 2 - LINK-11/tester-higher ") && !tests[1].contains("#"))
        #expect(lines.contains("  message: \"a # SKIP \\\"b\\\"\""))
        #expect(lines.contains("  duration_ms: 512") && lines.contains("  clause: \"6.3\""))
        #expect(lines.count { $0 == "  ---" } == 2 && lines.count { $0 == "  ..." } == 2)
    }

    @Test("a report in JSON can be read again, with the log of what failed")
    func json() throws {
        let kept = try JSONDecoder().decode(SavedReport.self, from: Data(try ReportTests.report().json()))
        #expect(kept.seed == 7 && kept.suite == Suite.edition)
        #expect(kept.counts["FAIL"] == 1)
        #expect(kept.cases.map(\.verdict) == ["PASS", "FAIL"])
        #expect(kept.cases[0].log == nil)
        #expect(kept.cases[1].log?.count == ReportTests.log("").count)
    }

    @Test("the size of a report is bounded, however much a case sends")
    func bounded() throws {
        let log = TrafficLog()
        for number in 0..<3_100 { log.add(.note, "\(number)") }
        for _ in 0..<300 { log.add(.note, String(repeating: "hostile ", count: 1_000)) }
        let one = try #require(Suite.cases.first { $0.id == "LINK-11" })
        let outcome = CaseOutcome(
            subject: one, order: .testerLower, repetition: 0, verdict: .fail, reason: "x", isOfProcess: false,
            seconds: 1, log: log.lines)
        let order = Report.Invocation(shim: "shim", seed: 1, isStrict: false)
        let few = Report(order, [outcome]).html().utf8.count
        #expect(few < 1_000_000)
        let many = Report(order, .init(repeating: outcome, count: 90), mostDiagrams: 2).html().utf8.count
        #expect(many < 4 * few)
    }

    @Test("every rule that a case names is in the chapter that its link leads to")
    func links() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Spec")
        var chapters: [String: String] = [:]
        for name in SpecificationLinks.chapters {
            chapters["Spec/\(name)"] = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        for one in Suite.cases {
            #expect(SpecificationLinks().address(of: one) != nil, "\(one.id)")
            for rule in one.rules {
                let address = try #require(SpecificationLinks().address(ofRule: rule, chapter: one.chapter))
                let file = String(address.prefix { $0 != "#" })
                #expect(chapters[file]?.contains("**[\(rule)]**") == true, "\(rule): \(file)")
            }
        }
    }
}

/// The elements of a document.
private final class Elements: NSObject, XMLParserDelegate {
    private var all: [String] = []
    private(set) var addresses: [String] = []
    private(set) var attributes: Set<String> = []
    private(set) var text = ""

    var names: Set<String> { Set(all) }
    func count(_ name: String) -> Int { all.count { $0 == name } }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes values: [String: String] = [:]
    ) {
        all.append(name)
        attributes.formUnion(values.keys)
        if let address = values["href"] { addresses.append(address) }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}

@Suite("Comparison of reports", .computing)
struct ComparisonTests {
    private static func column(_ name: String, _ report: Report) throws -> Comparison.Column {
        .init(name: name, report: try JSONDecoder().decode(SavedReport.self, from: Data(try report.json())))
    }

    @Test("what differs comes first, then the sums of each section and level")
    func matrix() throws {
        let one = try ComparisonTests.column("ann", ReportTests.report("x", [.pass, .pass]))
        let other = try ComparisonTests.column("<bob>", ReportTests.report("x", [.pass, .fail]))
        let comparison = try Comparison([one, other])
        let lines = comparison.text.split(separator: "\n")
        #expect(lines.first == "1 of 2 differ")
        #expect(lines[2].split(separator: " ") == ["LINK-11/tester-higher", "PASS", "FAIL"])
        #expect(lines.last?.split(separator: " ") == ["all", "2/2", "1/2"])
        #expect(comparison.remarks.isEmpty)
        #expect(comparison.html.contains("&lt;bob&gt;") && !comparison.html.contains("<bob>"))
        let parser = XMLParser(data: Data(comparison.html.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
    }

    @Test("different seeds and strictness are pointed out, and a case that one did not run is open")
    func remarks() throws {
        let one = try ComparisonTests.column("ann", ReportTests.report("x", seed: 1, [.pass, .pass]))
        let other = try ComparisonTests.column(
            "bob", ReportTests.report("x", seed: 2, isStrict: true, [.pass]))
        let comparison = try Comparison([one, other])
        #expect(
            comparison.remarks == ["the seeds differ: ann 1, bob 2", "only bob ran with --strict"])
        #expect(comparison.text.contains("1/1 (1 open)"))
    }

    @Test("reports of different editions of the suite are not compared")
    func editions() throws {
        let one = try ComparisonTests.column("ann", ReportTests.report())
        let json = String(decoding: try ReportTests.report().json(), as: UTF8.self)
        let old = json.replacing("\"suite\" : \"\(Suite.edition)\"", with: "\"suite\" : \"0\"")
        let other = Comparison.Column(
            name: "bob", report: try JSONDecoder().decode(SavedReport.self, from: Data(old.utf8)))
        #expect(throws: Comparison.Incomparable.self) { _ = try Comparison([one, other]) }
        #expect(throws: Comparison.Incomparable.self) { _ = try Comparison([one]) }
    }
}
