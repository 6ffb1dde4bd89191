import MultipeerConnectivity
import MultipeerConnectivity.MCPeerID
import MultipeerConnectivity.MCSession
import TestSupport
import Testing

@Suite("Imports", .computing)
struct ImportTests {
    @Test("the headers of Apple's framework can be imported by their names")
    func submodules() { #expect(kMCSessionMaximumNumberOfPeers == 8) }

    @Test("Foundation and Dispatch are imported, too")
    func reexports() {
        #expect(URL(fileURLWithPath: "/").isFileURL)
        #expect(DispatchQueue.main.label.isEmpty == false)
    }
}
