import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: addresses of peers", .computing)
struct PeerAddressTests {
    @Test(
        "what is nearly an address is refused at once, and not looked for as a name",
        arguments: [
            ("127.0.0.1:99999", "port"), ("127.0.0.1:0", "port"), ("127.0.0.1:x", "port"),
            ("[::1]:70000", "port"), ("host.example:99999", "port"), ("ann@192.0.2.1:99999", "port"),
            ("127.0.0.1/24", "prefix"), ("fe80::1/64", "prefix"), ("fe80::1%nope", "interface nope"),
            ("300.1.1.1", "IPv4"), ("1.2.3.4.", "IPv4"), ("fe80:::1", "IPv6"), ("1:2:3", "IPv6"),
        ])
    func nearMisses(_ text: String, reason: String) {
        let fault = PeerAddress.fault(in: text, takesNames: true)
        #expect(fault?.contains(reason) ?? reason.isEmpty, "\(fault ?? "none")")
    }

    @Test(
        "addresses and names of peers are neither",
        arguments: [
            "ann", "Ann Lee", "ann#1f2e", "#1f2e3d4c", "a/b", "50% off", "ann: work", "v1.2", "192.0.2.1",
            "192.0.2.1:4761", "::1", "[::1]:4761", "host.example", "ann@192.0.2.1", "12", "7 a",
        ])
    func noNearMiss(_ text: String) {
        #expect(PeerAddress.fault(in: text, takesNames: true) == nil)
        #expect(PeerAddress.fault(in: text, takesNames: false) == nil)
    }

    @Test(
        "an IP address is always an address, with or without a port",
        arguments: [
            ("192.0.2.1", "192.0.2.1:4761"), ("192.0.2.1:4000", "192.0.2.1:4000"),
            ("2001:db8::1", "[2001:db8::1]:4761"), ("[2001:db8::1]", "[2001:db8::1]:4761"),
            ("[2001:db8::1]:4000", "[2001:db8::1]:4000"),
        ])
    func addresses(_ text: String, _ meant: String) {
        #expect(PeerAddress(text, takesNames: false)?.text == meant)
        #expect(PeerAddress(text, takesNames: true)?.text == meant)
    }

    @Test("a host name has a dot or a port, and stands only after --to")
    func names() {
        for (text, meant) in [("host.example", "host.example:4761"), ("host:4000", "host:4000")] {
            #expect(PeerAddress(text, takesNames: true)?.text == meant)
            #expect(PeerAddress(text, takesNames: false) == nil)
        }
    }

    @Test("the peer that is meant stands before the address")
    func selectors() {
        let address = PeerAddress("ann#1f2e@192.0.2.1", takesNames: false)
        #expect(address?.text == "192.0.2.1:4761")
        #expect(address?.selector == PeerSelector("ann#1f2e"))
        #expect(PeerAddress("@192.0.2.1", takesNames: true) == nil)
        #expect(PeerAddress("ann#x@192.0.2.1", takesNames: true) == nil)
    }

    @Test(
        "everything else is the name of a peer",
        arguments: [
            "ann", "ann smith", "ann#1f2e", "#1f2e", "192.0.2.1:0", "192.0.2.1:70000", "host:", "ann:x",
            ":4000",
            "a.b c", "anna@home", "..", "",
        ])
    func others(_ text: String) { #expect(PeerAddress(text, takesNames: true) == nil) }

    @Test(
        "a peer is not called what its name would be read as: a code, an address, or a name with digits of an id",
        arguments: [
            ("7-guitar-island", "a code"), ("7 Guitar isl", "a code"), ("7–guitar–island", "a code"),
            ("192.0.2.1", "an address"), ("192.0.2.1:4000", "an address"), ("::1", "an address"),
            ("[::1]", "an address"), ("[::1]:4000", "an address"), ("ann@192.0.2.1", "an address"),
            ("ann#1f2e@::1", "an address"), ("ann#1f2e", "a name with digits of an id"),
            ("#1F2E3D4C", "a name with digits of an id"),
        ])
    func misread(_ name: String, _ other: String) {
        #expect(PeerOptions.misreading(of: name) == other)
    }

    @Test(
        "all else is a name, and is read as that",
        arguments: [
            "ann", "Ann Lee", "7", "42", "7-foo", "7-guitar", "v1.2", "host.example", "host:4000", "12:30",
            "anna@home", "1:2", "guitar-island",
        ])
    func read(_ name: String) {
        #expect(PeerOptions.misreading(of: name) == nil)
        #expect(PeerAddress(name, takesNames: false) == nil && PeerSelector(name)?.name == name)
    }

    @Test("of a name with a mark, digits of the id are given, too", arguments: ["C#", "ann#12", "ann#wxyz"])
    func marked(_ name: String) {
        #expect(PeerOptions.misreading(of: name) == nil && PeerSelector(name) == nil)
        #expect(PeerSelector("\(name)#1f2e3d4c")?.name == name)
    }
}
