// The last step of "Getting started".

import Foundation
import Multipeer

/// The lines that the user types. `readLine` blocks its thread, so it has one of its own.
let lines = AsyncStream<String> { lines in
    Thread.detachNewThread {
        while let line = readLine() { lines.yield(line) }
        lines.finish()
    }
}

/// The invitations that the user is asked about, one after the other.
actor Questions {
    private var open: [Invitation] = []

    func ask(_ invitation: Invitation) {
        open.append(invitation)
        if open.count == 1 { show() }
    }

    /// Returns the invitation that the line decides, if it is a `y` or an `n` and there is a question.
    func decided(by line: String) -> Invitation? {
        guard line == "y" || line == "n", !open.isEmpty else { return nil }
        defer { show() }
        return open.removeFirst()
    }

    /// Drops the questions about a peer that another member has introduced.
    func drop(_ peer: PeerID) async {
        let dropped = open.filter { $0.inviter == peer }
        guard !dropped.isEmpty else { return }
        open.removeAll { $0.inviter == peer }
        show()
        for invitation in dropped { try? await invitation.decline() }
    }

    private func show() {
        guard let first = open.first else { return }
        print("\(first.inviter) wants to chat. Accept? [y/n]")
    }
}

/// Invites the peer, unless another member has introduced it.
func invite(_ peer: PeerID, with browser: Browser, to session: Session) async {
    if await session.connectedPeers.contains(peer) { return }
    print("found \(peer); waiting for them to accept")
    do {
        try await browser.invite(peer, to: session)
    } catch {
        if await !session.connectedPeers.contains(peer) { print(error) }
    }
}

func chat(as me: PeerID) async throws {
    let questions = Questions()
    let advertiser = try Advertiser(peer: me, service: "start-chat")
    let browser = try Browser(peer: me, service: "start-chat")
    try await withSession(peer: me) { session in
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await advertiser.run { invitations in
                    for await invitation in invitations {
                        if await session.connectedPeers.contains(invitation.inviter) {
                            try? await invitation.decline()  // another member has just introduced it
                        } else {
                            await questions.ask(invitation)
                        }
                    }
                }
            }
            group.addTask {
                try await browser.run { events in
                    // Side by side: a user who hesitates holds up no other one.
                    await withDiscardingTaskGroup { invitations in
                        for await case .found(let found) in events where me.uid < found.peer.uid {
                            invitations.addTask { await invite(found.peer, with: browser, to: session) }
                        }
                    }
                }
            }
            group.addTask {
                for await (peer, state) in session.peerStates {
                    switch state {
                    case .connecting: break
                    case .connected:
                        print("\(peer) is here")
                        await questions.drop(peer)
                    case .notConnected(let reason): print("\(peer): \(reason)")
                    }
                }
            }
            group.addTask {
                for await message in session.messages {
                    print("\(message.peer): \(message.text ?? "?")")
                }
            }
            for await line in lines {
                guard let invitation = await questions.decided(by: line) else {
                    try await session.sendToAll(line)
                    continue
                }
                do {
                    if line == "y" {
                        try await invitation.accept(into: session)
                    } else {
                        try await invitation.decline()
                    }
                } catch {
                    print(error)  // the inviter has given up meanwhile
                }
            }
            group.cancelAll()
        }
    }
}

try await chat(as: PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann"))
