import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: the purpose of an invitation", .computing)
struct PeerRoleTests {
    @Test("purposes survive a round trip in info and context")
    func roundTrip() {
        for purpose in [PeerRole.chat(room: "a room"), .receive, .send(files: nil), .link] {
            #expect(PeerRole(info: purpose.info) == purpose)
        }
        for purpose in [PeerRole.chat(room: "a room"), .chat(room: ""), .send(files: 3), .receive, .link] {
            #expect(PeerRole(context: purpose.context) == purpose)
        }
    }

    @Test(
        "anything else has no purpose",
        arguments: [
            "", "send x", "send 0", "send -1", "fly 1", "receive 1", "link x",
            String(repeating: "chat ", count: 200),
        ])
    func strange(_ text: String) {
        #expect(PeerRole(context: Array(text.utf8)) == nil)
        #expect(PeerRole(context: [0xff]) == nil)
        #expect(PeerRole(context: nil) == nil)
        #expect(PeerRole(info: ["does": text]) == nil)
    }

    @Test("a sender suits a receiver, and everything else suits its like")
    func suits() {
        let purposes = [PeerRole.send(files: 2), .receive, .link, .chat(room: "a"), .chat(room: "b")]
        for (index, one) in purposes.enumerated() {
            for (place, other) in purposes.enumerated() {
                let isTransfer = index + place == 1
                #expect(one.suits(other) == (isTransfer || (index == place && index > 1)))
            }
        }
    }
}
