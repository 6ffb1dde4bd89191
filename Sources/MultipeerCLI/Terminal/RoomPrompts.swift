import MultipeerCommandLine
import MultipeerEssentials

/// Questions about trust to the user of a room. The answer is typed like everything else: only the room reads the
/// terminal.
final class RoomPrompts: Sendable {
    private let screen: Screen
    private let questions = OpenQuestions()

    init(_ screen: Screen) { self.screen = screen }

    /// Asks a question. If the room has no terminal, it is asked on `/dev/tty`, if there is one.
    func ask(_ question: String) async -> Bool {
        guard screen.isTerminal else { return await TrustOption.onTerminal(question) }
        return await questions.ask { screen.tell("\(question) /trust yes or /trust no") }
    }

    func answer(_ isTrusted: Bool) {
        if !questions.answer(isTrusted) { screen.tell("no question to answer") }
    }
}
