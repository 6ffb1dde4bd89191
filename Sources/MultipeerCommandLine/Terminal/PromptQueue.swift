import MultipeerEssentials

/// Questions of tasks that wait for the terminal, which asks one at a time. Unauthenticated peers can cause any number: at
/// most `most` wait, and further ones count as a no, as one that cannot be asked does, after a message; one whose task is
/// cancelled is not asked.
package final class PromptQueue: Sendable {
    package typealias Ask = @Sendable (String) throws(CommandError) -> String?

    private let worker = Worker("prompts")
    private let waiting = Locked(0)
    private let most: Int
    private let warn: @Sendable (String) -> Void
    private let ask: Ask

    /// `ask`: shows a question, and returns the answer when it was typed. `warn`: shows why there is none.
    package init(
        atMost most: Int = 64, warn: @escaping @Sendable (String) -> Void = Terminal.warn, ask: @escaping Ask
    ) {
        self.most = most
        self.warn = warn
        self.ask = ask
    }

    /// Returns whether the answer is yes.
    package func ask(_ question: String) async -> Bool {
        let mayWait = waiting.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        guard mayWait else { return false }
        defer { waiting.withLock { $0 -= 1 } }
        let isWithdrawn = Locked(false)
        return await withTaskCancellationHandler {
            do throws(CommandError) {
                let answer = try await worker.run { [ask] () throws(CommandError) -> String? in
                    isWithdrawn.withLock(\.self) ? nil : try ask(question)
                }
                return Terminal.isYes(answer)
            } catch {
                warn("\(question) This could not be asked, so the answer is no: \(error)")
                return false
            }
        } onCancel: {
            isWithdrawn.withLock { $0 = true }
        }
    }
}
