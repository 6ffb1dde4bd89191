import Foundation
import MultipeerTransport

/// Streams and files among the arguments or in the result of a call, which are sent separately.
final class Attachments: Sendable {
    enum Attachment: Sendable {
        case stream(BytePipeReader)
        case file(URL)

        /// How many bytes it holds while it waits.
        var weight: Int {
            switch self {
            case .stream: BytePipe.capacity
            case .file: 1_024
            }
        }

        /// Fails a stream that will not be sent: its writer receives the error.
        func fail(_ error: any Error) {
            if case .stream(let reader) = self { reader.fail(error) }
        }
    }

    private struct State {
        var waiting: [(token: String, attachment: Attachment)] = []
        var underway: [Task<Void, Never>] = []
        var isGivenUp = false
    }

    private let state = Locked(State())

    /// Fails the attachments of a call that was not made.
    deinit { Attachments.fail(takeAll()) }

    func add(_ attachment: Attachment) -> String {
        let token = AttachmentToken.make()
        state.withLock { $0.waiting.append((token, attachment)) }
        return token
    }

    func takeAll() -> [(token: String, attachment: Attachment)] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Records that one of them is sent by that task.
    func isSent(by task: Task<Void, Never>) {
        let isGivenUp = state.withLock { state in
            if !state.isGivenUp { state.underway.append(task) }
            return state.isGivenUp
        }
        if isGivenUp { task.cancel() }
    }

    /// Gives up all of them: the call was not made, or no caller waits for it.
    func giveUp() {
        let (waiting, underway) = state.withLock { state in
            defer { state = State(isGivenUp: true) }
            return (state.waiting, state.underway)
        }
        Attachments.fail(waiting)
        for task in underway { task.cancel() }
    }

    private static func fail(_ attachments: [(token: String, attachment: Attachment)]) {
        let error = ActorCallError(.cancelled, "the call to which the stream belongs was not made")
        for (_, attachment) in attachments { attachment.fail(error) }
    }
}

/// Identifies the stream or file of an argument: 32 random hexadecimal digits.
enum AttachmentToken {
    /// The prefix of the names of all streams and files of actor systems.
    static let prefix = "org.swift-multipeer.actors/"

    static func make() -> String {
        var randomness = SystemRandomness()
        return [UInt64](arrayLiteral: randomness.next(), randomness.next()).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    static func isToken(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
