import Multipeer
import MultipeerOrders

/// The README's chat as a star: no mesh dials a member that is missed, so a peer that is lost has to be found, and invited, again.
func starChat(_ name: String) async throws {
    let me = try PeerID(displayName: name)
    let advertiser = try Advertiser(peer: me, service: "chat")
    let browser = try Browser(peer: me, service: "chat")
    var configuration = Session.Configuration()
    configuration.topology = .star
    try await withSession(peer: me, configuration: configuration) { session in
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await advertiser.run(into: session) { _ in true } }
            group.addTask { try await browser.run(linking: session) }
            group.addTask {
                for await message in session.messages {
                    Orders.say("\(message.peer): \(message.text ?? "?")")
                }
            }
            group.addTask { for await line in Orders.lines() { try await session.sendToAll(line) } }
            try await group.next()
            group.cancelAll()
        }
    }
}
