// The second program of the README, which a test compares: asks the user about each invitation, one after the other.
// Run it as `Asking NAME`.

// snippet.show
import Foundation
import Multipeer

func ask(as me: PeerID, _ lines: AsyncStream<String>) async throws {
    var configuration = Session.Configuration()
    configuration.topology = .star  // in a mesh, another member could admit a peer that this user declines
    try await withSession(peer: me, configuration: configuration) { session in
        async let _: Void = {
            for await message in session.messages { print("\(message.peer): \(message.text ?? "?")") }
        }()
        try await Advertiser(peer: me, service: "chat").run { invitations in
            var answers = lines.makeAsyncIterator()
            for await invitation in invitations {
                print("\(invitation.inviter) wants to connect. Accept? [y/N]")
                guard let answer = await answers.next() else { return }  // the input has ended
                do {
                    if answer.lowercased() == "y" {
                        try await invitation.accept(into: session)  // returns when linked
                        print("\(invitation.inviter) is connected")
                    } else {
                        try await invitation.decline()
                        print("declined")
                    }
                } catch {
                    print(error)  // it gave up, or no link was made
                }
            }
        }
    }
}

/// The lines that the user types, as in the chat; one that is typed before a question is no answer to it.
let lines = AsyncStream(String.self, bufferingPolicy: .bufferingNewest(0)) { lines in
    Thread.detachNewThread {
        while let line = readLine() { lines.yield(line) }
        lines.finish()
    }
}

try await ask(as: PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann"), lines)
