// The first sample of the README; a test compares the two.
// Run it on two machines on the same network, or twice on one with MULTIPEER_INTERFACES=lo in the environment.

// snippet.show
import Multipeer

let session = try Session(peer: PeerID(displayName: "ann"))
let advertiser = try Advertiser(peer: session.peer, service: "chat")
let browser = try Browser(peer: session.peer, service: "chat")
try await advertiser.start()
try await browser.start()

Task {  // accepts every invitation; ask your user here, and decline() if the answer is no
    for await invitation in advertiser.invitations { try await invitation.accept(into: session) }
}
Task { for await event in session.events { print(event) } }  // peer states, messages, streams, files

for await case .found(let found) in browser.events {
    try await browser.invite(found.peer, to: session)  // returns when linked, or throws an error
    try await session.send(Array("hello".utf8), to: found.peer)
}
