// A room of eight: whoever runs it meets all others, and each prints who is there. Run it as `Room NAME`.

import Multipeer

func join(_ room: String, as me: PeerID) async throws {
    let advertiser = try Advertiser(peer: me, service: "rooms", info: ["room": room])
    let browser = try Browser(peer: me, service: "rooms")
    // A room has 8 members, unless `Session.Configuration.maximumPeers` is another number.
    try await withSession(peer: me) { session in
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await advertiser.run(into: session) { _ in true } }
            // A room that I join introduces me to all its members. Who is lost, and still there, is linked again.
            group.addTask { try await browser.run(linking: session) { $0.info["room"] == room } }
            var roster: Set = [me]
            for await (peer, state) in session.peerStates {
                switch state {
                case .connecting: continue
                case .connected: roster.insert(peer)
                case .notConnected: roster.remove(peer)
                }
                print(roster.map(\.displayName).sorted().joined(separator: ", "))
            }
            group.cancelAll()
        }
    }
}
// snippet.hide

try await join("kitchen", as: PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann"))
