import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: addresses of peers", .computing)
struct PeerAddressTests {
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
}
