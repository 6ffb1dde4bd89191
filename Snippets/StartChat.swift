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

    /// Returns the invitation that the user's next line answers, if there is one.
    func answered() -> Invitation? {
        guard !open.isEmpty else { return nil }
        defer { show() }
        return open.removeFirst()
    }

    private func show() {
        guard let first = open.first else { return }
        print("\(first.inviter) wants to chat. Accept? [y/N]")
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
                    for await invitation in invitations { await questions.ask(invitation) }
                }
            }
            group.addTask {
                try await browser.run { events in
                    for await case .found(let found) in events where me.uid < found.peer.uid {
                        print("found \(found.peer); waiting for them to accept")
                        do { try await browser.invite(found.peer, to: session) } catch { print(error) }
                    }
                }
            }
            group.addTask {
                for await (peer, state) in session.peerStates {
                    switch state {
                    case .connecting: break
                    case .connected: print("\(peer) is here")
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
                guard let invitation = await questions.answered() else {
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
