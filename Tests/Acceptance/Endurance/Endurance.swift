import Foundation
import Multipeer

/// Repeats one thing very often with real sockets, and reports the result, for the acceptance run.
@main
enum Endurance {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    private static func run(_ words: [String]) async throws {
        if let count = words.dropFirst().first.flatMap({ Int($0) }), words.count == 2, count > 0 {
            switch words[0] {
            case "rounds": return try await Rounds(count).run()
            case "cycles": return try await Cycles(count).run()
            case "mesh-cycles": return try await MeshCycles(count).run()
            case "streams": return try await Streams(count, areTogether: true).run()
            case "streams-in-turn": return try await Streams(count, areTogether: false).run()
            case "mutual-invitations": return try await MutualInvitations(count).run()
            case "cancels": return try await Cancels(count).run()
            case "handshakes": return try await Handshakes(count).run()
            default: break
            }
        }
        switch (words.first, words.dropFirst().first, words.count) {
        case ("invited", nil, 1): try await InvitedHost().run()
        case ("everything", _, 3): try await Everything(words[1], words[2]).run()
        case ("latency", "answer", 4): try await Latency(listening: words[2], in: words[3]).answer()
        case ("latency", "ask", 6):
            guard let size = Int(words[4]), let seconds = Double(words[5]) else { fallthrough }
            try await Latency(listening: words[2], in: words[3]).ask(mebibytes: size, seconds: seconds)
        default:
            throw Failure(
                description: """
                    usage: MultipeerEndurance rounds|mutual-invitations|cycles|mesh-cycles|streams|streams-in-turn|cancels|handshakes COUNT
                           MultipeerEndurance invited
                           MultipeerEndurance everything PREFERENCE WORD
                           MultipeerEndurance latency answer ADDRESS FOLDER
                           MultipeerEndurance latency ask ADDRESS FOLDER MEBIBYTES SECONDS
                    """)
        }
    }

    /// Listens on 127.0.0.1 alone.
    static var loopback: Session.Configuration {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        configuration.connectTimeout = .seconds(30)
        return configuration
    }

    static func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Failure(description: text()) }
    }

    /// Sends a message each way, and returns every state that was received before it.
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
                try expect(message.bytes == text, "a different message arrived")
                return states
            case .stream, .resource, .verificationRequested, .verified:
                throw Failure(description: "an event arrived that was not sent")
            }
        }
        throw Failure(description: "the events ended")
    }
}
