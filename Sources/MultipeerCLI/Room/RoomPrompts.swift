import Multipeer
import MultipeerCommandLine

/// Questions about trust to the user of a room. The answer is typed like everything else: only the room reads the
/// terminal.
final class RoomPrompts: Sendable {
    private let screen: Screen
    /// The unanswered questions, the oldest first.
    private let open = Locked<[Promise<Bool>]>([])

    init(_ screen: Screen) { self.screen = screen }

    /// Asks a question. If the room has no terminal, it is asked on `/dev/tty`, if there is one.
    func ask(_ question: String) async -> Bool {
        guard screen.isTerminal else { return await TrustOption.onTerminal(question) }
        let signal = Promise<Bool>()
        open.withLock { $0.append(signal) }
        screen.tell("\(question) /trust yes or /trust no")
        return await signal.value()
    }

    func answer(_ isTrusted: Bool) {
        guard let signal = open.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            return screen.tell("no question to answer")
        }
        signal.send(isTrusted)
    }
}
