import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: parts of texts", .computing)
struct SubstringsTests {
    @Test("a text is split at each separator, also where nothing is between two")
    func parts() {
        #expect("a--b----c".parts(between: "--") == ["a", "b", "", "c"])
        #expect("--".parts(between: "--") == ["", ""] && "---".parts(between: "--") == ["", "-"])
        #expect("".parts(between: "x") == [""] && "x".parts(between: "xy") == ["x"])
        #expect("\u{e9}e\u{301}".parts(between: "\u{301}") == ["\u{e9}e", ""])
    }

    @Test("a part is found byte for byte, and replaced wherever it is")
    func others() {
        #expect("policy drop;".hasPart("drop") && !"policy".hasPart("drop") && "x".hasPart("x"))
        #expect("a'b''c".replacing(each: "'", with: "'\\''") == "a'\\''b'\\'''\\''c")
        #expect("abc".replacing(each: "x", with: "y") == "abc")
    }
}
