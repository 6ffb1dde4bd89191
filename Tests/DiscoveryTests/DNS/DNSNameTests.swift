import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.3 Domain names", .computing)
struct DNSNameTests {
    @Test("names are equal regardless of the case of ASCII letters, and of no others [dns.name]")
    func equality() throws {
        let name = try DNSName([Array("Ann É".utf8), Array("local".utf8)])
        #expect(try name == DNSName([Array("aNN É".utf8), Array("LOCAL".utf8)]))
        #expect(try name != DNSName([Array("Ann é".utf8), Array("local".utf8)]))
        #expect(try name.hashValue == DNSName([Array("ANN É".utf8), Array("local".utf8)]).hashValue)
        #expect(DNSName("[.local") != DNSName("{.local"), "32 apart, but no letters")
        #expect(DNSName("a.local") < "B.local")
        #expect(name.labels.first == Array("Ann É".utf8), "and a name keeps its own case")
    }

    @Test("a label has 1 to 63 bytes, a name at most 255 [dns.name]")
    func limits() throws {
        let label = [UInt8](repeating: 97, count: 63)
        #expect(throws: DNSFault.labelLength(64)) { try DNSName([label + [97]]) }
        #expect(throws: DNSFault.labelLength(0)) { try DNSName([[], label]) }
        let longest = try DNSName([label, label, label, Array(label.dropLast(2))])
        #expect(longest.encodedCount == 255)
        #expect(throws: DNSFault.nameLength) { try DNSName([label, label, label, Array(label.dropLast())]) }
        #expect(throws: DNSFault.nameLength) { try longest.child([97]) }
        let ones = try DNSName([[UInt8]](repeating: [97], count: 127))
        #expect(ones.encodedCount == 255 && ones.labels.count == 127)
        #expect(throws: DNSFault.labelLength(64)) { try DNSName.root.child(label + [97]) }
    }

    @Test("a name can be split into its parts")
    func parts() throws {
        let name: DNSName = "_chat._tcp.local"
        #expect(name.firstLabel == Array("_chat".utf8))
        #expect(name.parent == "_tcp.local")
        #expect(try DNSName("_tcp.local").child(Array("_chat".utf8)) == name)
        #expect(DNSName.root.parent == nil && DNSName.root.firstLabel == nil && DNSName.root.isRoot)
    }

    @Test(
        "a name is written with dots, and with a backslash before ambiguous characters",
        arguments: [
            (["_chat", "_tcp", "local"], "_chat._tcp.local"), (["Ann v1.2", "local"], "Ann v1\\.2.local"),
            (["back\\slash"], "back\\\\slash"), (["\u{7}", "é"], "\\007.é"), ([], "."),
        ] as [([String], String)])
    func text(_ labels: [String], _ text: String) throws {
        let name = try DNSName(labels.map { Array($0.utf8) })
        #expect(name.description == text)
        #expect(DNSName(text) == name)
    }

    @Test("texts that are not names are refused", arguments: ["a..b", ".a", "a\\", "\\256", "\\999.local"])
    func noName(_ text: String) { #expect(DNSName(text) == nil) }

    @Test("bytes that are not UTF-8 are written as numbers, and survive a round trip")
    func binary() throws {
        let name = try DNSName([[0xFF, 0x41], Array("local".utf8)])
        #expect(name.description == "\\255A.local")
        #expect(DNSName(name.description) == name)
    }
}
