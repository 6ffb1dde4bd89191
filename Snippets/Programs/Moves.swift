// Typed messages: each player sends a move to every player it meets. Run it as `Moves NAME`.

import Multipeer

enum Move: Codable, Sendable {
    case place(row: Int, column: Int)
    case resign
}

func play(as me: PeerID) async throws {
    let advertiser = try Advertiser(peer: me, service: "moves")
    let browser = try Browser(peer: me, service: "moves")
    try await withSession(peer: me) { session in
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await advertiser.run(into: session) { _ in true } }
            group.addTask { try await browser.run(linking: session) }
            group.addTask {
                for await case (let peer, .connected) in session.peerStates {
                    let move = Move.place(row: 1, column: 2)
                    do { try await session.send(encoding: move, to: peer) } catch { print(error) }
                }
            }
            for await message in session.messages(as: Move.self) {
                switch message.result {
                case .success(.place(let row, let column)): print("\(message.peer): \(row), \(column)")
                case .success(.resign): print("\(message.peer) gives up")
                case .failure: print("\(message.peer) sent something that is no move")
                }
            }
            group.cancelAll()
        }
    }
}
// snippet.hide

try await play(as: PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann"))
