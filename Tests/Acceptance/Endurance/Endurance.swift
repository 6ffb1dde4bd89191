import Foundation
import Multipeer

/// Does one thing very often with real sockets, and says how it went: what the acceptance run asks for.
@main
enum Endurance {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static func main() async {
        do {
            let words = CommandLine.arguments
            guard words.count == 3, let count = Int(words[2]), count > 0 else {
                throw Failure(description: "usage: MultipeerEndurance rounds|cycles COUNT")
            }
            switch words[1] {
            case "rounds": try await Rounds(count).run()
            case "cycles": try await Cycles(count).run()
            default: throw Failure(description: "unknown word '\(words[1])'")
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    /// Listens on 127.0.0.1 alone.
    static var loopback: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.listening = [.loopback]
        configuration.patience = .seconds(30)
        return configuration
    }

    static func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Failure(description: text()) }
    }

    /// A message each way, and every state that was heard on the way to it.
    static func talk(_ one: Session, _ other: Session) async throws -> ([PeerState], [PeerState]) {
        let text = Array("from one to the other".utf8)
        try await one.send(text, to: other.peer)
        try await other.send(text, to: one.peer)
        return (try await statesBefore(text, one), try await statesBefore(text, other))
    }

    private static func statesBefore(_ text: [UInt8], _ session: Session) async throws -> [PeerState] {
        var states: [PeerState] = []
        for await event in session.events {
            switch event {
            case .peer(_, let state): states.append(state)
            case .message(let message):
                try expect(message.bytes == text, "another message arrived than was sent")
                return states
            case .stream, .resource, .verificationRequested: break
            }
        }
        throw Failure(description: "the events ended")
    }
}
