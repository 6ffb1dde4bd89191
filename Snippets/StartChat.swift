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

/// Asks the user about invitations, one after the other.
actor Questions {
    private var open: [Invitation] = []
    private var shown: Invitation?
    private var isAnswering = false

    /// Asks, and returns when no answer is expected any more.
    func ask(_ invitation: Invitation, in session: Session) async {
        open.append(invitation)
        // Another member may have introduced it just now.
        if await session.connectedPeers.contains(invitation.inviter) { await drop(invitation.inviter) }
        showNext()
        await invitation.waitUntilEnded()
        open.removeAll { $0 === invitation }
        guard shown === invitation else { return }
        print("\(invitation.inviter) needs no answer any more")
        shown = nil
        showNext()
    }

    /// Answers the shown question. Returns false for a line that is no answer.
    func answer(_ line: String, in session: Session) async -> Bool {
        let answer = line.lowercased()
        guard answer == "y" || answer == "n" else { return false }
        guard let invitation = shown else {
            print("there is no question")
            return true
        }
        open.removeAll { $0 === invitation }
        shown = nil
        isAnswering = true  // the new peer may introduce those who ask next
        do {
            if answer == "y" {
                try await invitation.accept(into: session)
            } else {
                try await invitation.decline()
            }
        } catch {
            print(error)
        }
        isAnswering = false
        showNext()
        return true
    }

    /// Ends the questions about a peer that another member has introduced.
    func drop(_ peer: PeerID) async {
        for invitation in open where invitation.inviter == peer { try? await invitation.decline() }
    }

    private func showNext() {
        guard shown == nil, !isAnswering, let next = open.first else { return }
        shown = next
        print("\(next.inviter) wants to chat. Accept? [y/n]")
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
                    await withDiscardingTaskGroup { open in
                        for await invitation in invitations {
                            open.addTask { await questions.ask(invitation, in: session) }
                        }
                    }
                }
            }
            group.addTask {
                try await browser.run(linking: session) {
                    me.uid < $0.peer.uid
                } onFailure: {
                    print("no link with \($0): \($1)")
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
            group.addTask {
                for await line in lines {
                    if await questions.answer(line, in: session) { continue }
                    try await session.sendToAll(line)
                }
            }
            try await group.next()  // the input has ended, or one of them has failed
            group.cancelAll()
        }
    }
}

try await chat(as: PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann"))
