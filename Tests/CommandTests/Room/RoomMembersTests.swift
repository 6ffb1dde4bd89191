import Multipeer
import MultipeerCLI
import TestSupport
import Testing

@Suite("Command: who is kept in a room", .computing)
struct RoomMembersTests {
    @Test("of strangers that come and go, eight are kept, and of those that never link none")
    func strangers() throws {
        var members = RoomMembers(own: try PeerID(displayName: "ann"))
        for number in 1...1_000 {
            let peer = try PeerID(displayName: "stranger \(number)")
            _ = members.meet(peer)
            if number % 2 == 0 {
                _ = members.depart(peer, DisconnectReason(code: .goodbye))
                members.forgetOldest()
            } else {
                members.dismiss(peer)
            }
            #expect(members.count <= 8)
        }
        #expect(members.count == 8)
    }
}
