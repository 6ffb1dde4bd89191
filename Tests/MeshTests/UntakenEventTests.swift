import FuzzBodies
import MultipeerCore
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@testable import MultipeerMesh

@Suite("15 Events of members that are not taken", .computing)
struct UntakenEventTests {
    @Test(
        "members are dialled and reported unless too many events are untaken [limit.events]",
        arguments: [false, true])
    func members(_ holds: Bool) throws {
        let now = Moment(nanoseconds: 1_000_000_000)
        let local = LocalPeer(
            peer: try PeerID(validating: peer(1).uid, displayName: "ann"), instance: peer(1).instance,
            preference: .none, hasIdentity: false, fingerprint: nil)
        var mesh = Mesh(local, seed: 1)
        let address = try #require(Candidate(address: [192, 0, 2, 1], port: 5_000))
        _ = try mesh.connectionData(
            for: nil, candidates: [address], flags: .mesh, token: [UInt8](repeating: 1, count: 32), at: now)
        mesh.holdsIntroductions = holds
        mesh.membership.linked(connection(2), to: peer(2), isMesh: true, at: now)
        let entries = [
            try entry(of: peer(2), 1, [peer(1), peer(20)]), try entry(of: peer(20), 1, [peer(2)]),
        ]
        for entry in entries { _ = mesh.membersArrived(entry, on: connection(2), at: now) }
        let states = mesh.takeActions().filter { if case .state = $0 { true } else { false } }
        #expect(states.count == (holds ? 0 : 1))
        #expect(mesh.awaits(peer(20).uid) != holds)
    }
}
