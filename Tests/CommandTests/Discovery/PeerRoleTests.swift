import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: the purpose of an invitation", .computing)
struct PeerRoleTests {
    @Test("purposes survive a round trip in info and context")
    func roundTrip() {
        for purpose in [PeerRole.chat(room: "a room"), .receive] {
            #expect(PeerRole(info: purpose.info) == purpose)
        }
        for purpose in [PeerRole.chat(room: "a room"), .chat(room: ""), .send(files: 3)] {
            #expect(PeerRole(context: purpose.context) == purpose)
        }
    }

    @Test(
        "anything else has no purpose",
        arguments: [
            "", "send", "send x", "send 0", "send -1", "fly 1", String(repeating: "chat ", count: 200),
        ])
    func strange(_ text: String) {
        #expect(PeerRole(context: Array(text.utf8)) == nil)
        #expect(PeerRole(context: [0xff]) == nil)
        #expect(PeerRole(context: nil) == nil)
        #expect(PeerRole(info: ["does": text]) == nil)
    }
}
