// Two peers that prove to each other that they have the same code. Run it as `Codes` on one machine, then, with the code that
// it prints, as `Codes 7-guitar-island` on another.

// snippet.show
import Multipeer

/// Shows a code, and links with the peer whose user types it.
func host(_ session: Session) async throws {
    let code = InvitationCode.random()
    let advertiser = try Advertiser(peer: session.peer, service: "chat", code: code)
    try await advertiser.start()
    print("the code is \(code)")
    let watching = Task {
        for await case .wrongGuess(let address, _, _) in advertiser.codeEvents {
            print("a wrong code came from \(address): start again with a new one")
            await advertiser.stop()
        }
    }
    for await invitation in advertiser.invitations {  // only those who have the code get here
        try await invitation.accept(into: session)
        print("linked with \(invitation.inviter)")
    }
    watching.cancel()
}

/// Finds the peer that shows the code, and links with it.
func join(_ text: String, _ session: Session) async throws {
    let code = try InvitationCode(text)  // throws for a mistyped word, before anything is sent
    let browser = try Browser(peer: session.peer, service: "chat")
    try await browser.start()
    let found = try await browser.peer(for: code)
    try await browser.invite(found.peer, to: session, code: code)
    print(
        "linked with \(found.peer), verified: \(await session.connectionInfo(for: found.peer)?.verification.isVerified ?? false)"
    )
}
// snippet.hide

let session = try Session(peer: PeerID(displayName: "ann"))
if let text = CommandLine.arguments.dropFirst().first {
    try await join(text, session)
} else {
    try await host(session)
}
