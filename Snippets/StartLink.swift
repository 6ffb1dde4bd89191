// The second step of "Getting started".

import Multipeer

let me = try PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann")
let advertiser = try Advertiser(peer: me, service: "start-chat")
let browser = try Browser(peer: me, service: "start-chat")

try await withSession(peer: me) { session in
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {  // accepts every invitation, for now
            try await advertiser.run(into: session) { _ in true }
        }
        group.addTask {  // of two peers, the one with the lower id invites
            try await browser.run(linking: session) {
                me.uid < $0.peer.uid
            } onFailure: {
                print("no link with \($0): \($1)")
            }
        }
        group.addTask {
            for await message in session.messages { print("\(message.peer): \(message.text ?? "?")") }
        }
        group.addTask {
            for await (peer, state) in session.peerStates {
                guard case .connected = state else { continue }
                print("linked with \(peer)")
                do { try await session.send("hello from \(me)", to: peer) } catch { print(error) }
            }
        }
        try await group.next()  // one of them has failed
        group.cancelAll()
    }
}
