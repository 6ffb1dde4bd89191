import Foundation
import Multipeer
import MultipeerCommandLine

/// Where a room is shown and typed in: what peers say goes to standard output, everything else to standard error. In a
/// pipe, and on a terminal that knows no escape sequences, that is plain lines; on any other one what is typed stays
/// together below.
final class Screen: Sendable {
    /// Whether somebody reads and types, not a program.
    let isTerminal: Bool
    private let isQuiet: Bool
    private let output = Worker("output")
    private let editing = Locked<LineEditor?>(nil)
    private let source = LineSource()

    init(isQuiet: Bool) {
        isTerminal = DescriptorStream.input.isTerminal && DescriptorStream.output.isTerminal
        self.isQuiet = isQuiet
    }

    /// From here on the terminal is the room's.
    func begin() {
        guard isTerminal, DescriptorStream.error.isTerminal else { return }
        let editor = LineEditor()
        editing.withLock { $0 = editor }
    }

    /// Nothing is typed any more.
    func end() { editor?.end() }

    private var editor: LineEditor? { editing.withLock { $0 } }

    /// What is typed next; nil at the end.
    func next() async throws(CommandError) -> LineSource.Line? {
        guard let editor else { return try await source.next() }
        return try await editor.next().map(LineSource.Line.text)
    }

    /// What somebody says. Waits until it is taken: that is what holds peers back whose words nobody reads.
    func put(_ text: String) async throws(CommandError) {
        try await output.run { [editor] () throws(CommandError) in
            if let editor { editor.show(text) } else { try Terminal.put(text) }
        }
    }

    /// What happens; nothing of it when the user wants it quiet.
    func note(_ text: String) { if !isQuiet { tell(text) } }

    /// What goes wrong, and what was asked for.
    func tell(_ text: String) {
        let head = isTerminal ? "* " : "\(Terminal.name): "
        show(text.split(separator: "\n").map { "\(head)\($0)\n" }.joined())
    }

    /// Text for people as it is, whole lines.
    func show(_ text: String) {
        if let editor { editor.show(text) } else { Terminal.show(text) }
    }
}
