import Multipeer
import MultipeerCommandLine

/// What the user of a room is asked about trust. The answer is typed like everything else: only the room reads the
/// terminal.
final class RoomPrompts: Sendable {
    private let screen: Screen
    /// Those without an answer, the oldest first.
    private let open = Locked<[Promise<Bool>]>([])

    init(_ screen: Screen) { self.screen = screen }

    /// Without a terminal for the room it is asked on another one, if there is one.
    func ask(_ question: String) async -> Bool {
        guard screen.isTerminal else { return await TrustOption.onTerminal(question) }
        let signal = Promise<Bool>()
        open.withLock { $0.append(signal) }
        screen.tell("\(question) /trust yes or /trust no")
        return await signal.value()
    }

    func answer(_ isTrusted: Bool) {
        guard let signal = open.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            return screen.tell("nothing was asked")
        }
        signal.send(isTrusted)
    }
}
