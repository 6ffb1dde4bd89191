// The first program of the README, which a test compares: a chat in the terminal with everyone on the network who runs it.
// Run it as `Chat NAME`.

// snippet.show
import Foundation
import Multipeer

func chat(as me: PeerID, _ lines: AsyncStream<String>) async throws {
    let advertiser = try Advertiser(peer: me, service: "chat")
    let browser = try Browser(peer: me, service: "chat")
    try await withSession(peer: me) { session in
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await advertiser.run(into: session) { _ in true } }
            group.addTask { try await browser.run(linking: session) }
            group.addTask {
                for await message in session.messages { print("\(message.peer): \(message.text ?? "?")") }
            }
            group.addTask { for await line in lines { try await session.sendToAll(line) } }
            try await group.next()  // the input has ended, or one of them has failed
            group.cancelAll()
        }
    }
}

/// The lines that the user types. `readLine` blocks its thread, so it has one of its own.
let lines = AsyncStream<String> { lines in
    Thread.detachNewThread {
        while let line = readLine() { lines.yield(line) }
        lines.finish()
    }
}

try await chat(as: PeerID(displayName: CommandLine.arguments.dropFirst().first ?? "ann"), lines)
