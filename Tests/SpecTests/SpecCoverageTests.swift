import TestSupport
import Testing

@Suite("2 Labels", .computing)
struct SpecCoverageTests {
    @Test("every label of the spec has code and a test, or a written exception; every citation has a label")
    func orphans() throws {
        let orphans = try Labels.ofRepository().orphans
        guard !orphans.isEmpty else { return }
        Issue.record("\(orphans.count) orphans:\n\(orphans.joined(separator: "\n"))")
    }

    @Test("a sentence defines a label in bold; a bare label in prose is a mention")
    func definition() {
        #expect(
            definitions(in: "It MUST. **[frame.length]** And so. **[tlv.order]**") == [
                "frame.length", "tlv.order",
            ])
        #expect(definitions(in: "see [frame.length] and **bold**") == [])
    }

    @Test("code cites labels in line comments, several in one, and nowhere else")
    func citation() {
        #expect(
            citations(in: "guard a < b else { return }  // [frame.length] [enc.no-negotiation]").count == 2)
        #expect(citations(in: "    /// Spec 7.1, [frame.header].") == ["frame.header"])
        #expect(citations(in: "let a = [frame.length]") == [])
    }

    @Test("titles are read across line breaks and escaped quotes")
    func title() {
        let source =
            "@Test(\n    \"a \\\"quoted\\\" word\", arguments: [1])\nfunc a() {}\n@Suite(\"7 Frames\") struct B {}"
        #expect(titles(in: source) == ["a \\\"quoted\\\" word", "7 Frames"])
    }

    @Test("a conformance case names the rules that it shows, on any number of lines")
    func shown() {
        let source = "Case(\"MSG-11\", rules: [\"msg.max\",\n    \"msg.order\"], bugs: [\"no.check\"])"
        #expect(rules(in: source) == ["msg.max", "msg.order"])
    }

    @Test("an exception states what is missing and why")
    func excuse() {
        let both = Labels.Exception(label: "mesh.cap", lacksCode: true, lacksTest: true)
        #expect(exception(in: "- [mesh.cap] code and test: comes with the mesh") == both)
        #expect(exception(in: "- [mesh.cap] code and test:") == nil)
        #expect(exception(in: "| mesh.cap | later |") == nil)
    }

    @Test("each kind of orphan is reported once")
    func reports() {
        var labels = Labels()
        labels.defined = ["a.full": "s:1", "a.code": "s:2", "a.test": "s:3", "a.none": "s:4"]
        labels.enforced = ["a.full": "c:1", "a.code": "c:2", "b.lost": "c:3"]
        labels.proved = ["a.full": "t", "a.test": "t", "b.stray": "t"]
        labels.exceptions = [
            Labels.Exception(label: "a.none", lacksCode: true, lacksTest: true),
            Labels.Exception(label: "a.full", lacksCode: false, lacksTest: true),
            Labels.Exception(label: "b.gone", lacksCode: true, lacksTest: false),
        ]
        #expect(
            labels.orphans == [
                "[a.code] has no test: s:2", "[a.full] is excused but has a test",
                "[a.test] has no code: s:3", "[b.gone] is excused but not in the spec",
                "[b.lost] is cited by code but not in the spec: c:3",
                "[b.stray] is cited by a test but not in the spec: t",
            ])
    }
}
