import Foundation
import Multipeer

/// Where a room is shown: what peers say goes to standard output, everything else to standard error. In a pipe, and on a
/// terminal that knows no escape sequences, that is plain lines.
final class Screen: Sendable {
    /// Whether somebody reads and types, not a program.
    let isTerminal: Bool
    private let isQuiet: Bool
    private let output = Worker("output")

    init(isQuiet: Bool) {
        isTerminal = Stream.input.isTerminal && Stream.output.isTerminal
        self.isQuiet = isQuiet
    }

    /// What somebody says. Waits until it is taken: that is what holds peers back whose words nobody reads.
    func put(_ text: String) async throws(Complaint) {
        try await output.run { () throws(Complaint) in try Terminal.put(text) }
    }

    /// What happens; nothing of it when the user wants it quiet.
    func note(_ text: String) { if !isQuiet { tell(text) } }

    /// What goes wrong, and what was asked for.
    func tell(_ text: String) {
        for line in text.split(separator: "\n") {
            if isTerminal { Terminal.show("* \(line)\n") } else { Terminal.say(String(line)) }
        }
    }
}
