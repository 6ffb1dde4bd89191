// Shown in the recipes of the documentation.
// One process with two peers that find each other on the loopback interface; the user of one of them is asked.

// snippet.hide
import Foundation
// snippet.show
import Multipeer

@MainActor final class Lobby {
    private(set) var asking: [Invitation] = []  // shown in the window, with two buttons each

    func open(_ advertiser: Advertiser) async throws {
        try await advertiser.start()
        for await invitation in advertiser.invitations { asking.append(invitation) }
    }

    func answer(_ invitation: Invitation, _ isYes: Bool, in session: Session) async throws {
        asking.removeAll { $0 === invitation }
        if isYes { try await invitation.accept(into: session) } else { try await invitation.decline() }
    }  // once, from any thread, until the invitation times out
}

// snippet.hide
/// This sample sends nothing to other machines.
func loopback(_ name: String) throws -> Session {
    var configuration = Session.Configuration()
    configuration.listenAddresses = DiscoveryConfiguration.loopback.listenAddresses
    return try Session(peer: PeerID(displayName: name), configuration: configuration)
}

let other = try loopback("bob")
let lobby = Lobby()
let advertiser = try Advertiser(
    peer: other.peer, service: "chat", info: ["room": "kitchen"], configuration: .loopback)
let opening = Task { try await lobby.open(advertiser) }
let user = Task {
    while true {
        try await Task.sleep(for: .milliseconds(100))
        guard let invitation = lobby.asking.first else { continue }
        return try await lobby.answer(invitation, true, in: other)
    }
}
let session = try loopback("ann")
let browser = try Browser(peer: session.peer, service: "chat", configuration: .loopback)
// snippet.show
try await browser.start()
for await event in browser.events {
    guard case .found(let bob) = event, bob.info["room"] == "kitchen" else { continue }
    try await browser.invite(bob.peer, to: session)  // returns when linked, or throws an error: declined…
    try await session.send(Array("hello".utf8), to: bob.peer)
    // snippet.hide
    try await user.value
    print("\(session.peer) and \(bob.peer) are linked")
    opening.cancel()
    await browser.stop()
    await advertiser.stop()
    await session.disconnect()
    exit(0)
    // snippet.show
}

// library: Multipeer
// example: Browser.run(linking:context:timeout:where:onFailure:)
/// Links with everyone in the room, for as long as the task runs. A star: no one is introduced, each invites those it wants.
func stayLinked(with room: String, by browser: Browser, in session: Session) async throws {
    try await browser.run(linking: session) { found in
        found.info["room"] == room
    } onFailure: { peer, error in
        print("no link with \(peer) yet: \(error)")  // once for each kind of error, until there is one
    }
}
// end
