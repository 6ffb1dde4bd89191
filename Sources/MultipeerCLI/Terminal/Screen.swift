import MultipeerCommandLine
import MultipeerEssentials

/// The input and output of a room: peers' messages go to standard output, everything else to standard error. In a pipe, and
/// on a terminal without escape sequences, these are plain lines; on any other terminal the input stays together in the
/// last line, and each line has the time.
final class Screen: Sendable {
    /// Whether standard input and output are terminals.
    let isTerminal: Bool
    private let isQuiet: Bool
    private let output = Worker("output")
    private let editing = Locked<LineEditor?>(nil)
    private let source = LineSource(longest: EditedLine.longest)
    private let hasColours = LineStyle.wantsColours(Environment.all)

    init(isQuiet: Bool) {
        isTerminal = DescriptorStream.input.isTerminal && DescriptorStream.output.isTerminal
        self.isQuiet = isQuiet
    }

    /// Takes over the terminal.
    func begin() {
        guard isTerminal, DescriptorStream.error.isTerminal else { return }
        let editor = LineEditor(
            completion: RoomCommand.completion, isASCII: !OutputEncoding.isUTF8,
            head: { [hasColours] in Screen.style(hasColours).time })
        editing.withLock { $0 = editor }
        if let editor { SignalHandler.onResize { editor.redraw() } }
    }

    /// Ends the input line.
    func end() { editor?.end() }

    private var editor: LineEditor? { editing.withLock { $0 } }

    /// How lines look now.
    var style: LineStyle { editor == nil ? .plain : Screen.style(hasColours) }

    private static func style(_ hasColours: Bool) -> LineStyle {
        LineStyle(time: LocalTime.hoursAndMinutes(), hasColours: hasColours)
    }

    /// Sets the names that can be completed.
    func complete(names: [String]) { editor?.complete(names: names) }

    /// Returns the next line of input; nil at its end.
    func next() async throws(CommandError) -> LineSource.Line? {
        guard let editor else { return try await source.next() }
        return try await editor.next().map(LineSource.Line.text)
    }

    /// Shows a peer's message. Waits until it is written: that is the back-pressure on the peers.
    func put(_ text: String) async throws(CommandError) {
        try await output.run { [editor] () throws(CommandError) in
            if let editor { editor.show(text) } else { try Terminal.put(text) }
        }
    }

    /// Shows an event, unless the command is quiet.
    func note(_ text: String) { if !isQuiet { tell(text) } }

    /// Shows an error, or the answer to a command.
    func tell(_ text: String) {
        let time = style.time
        let head = isTerminal ? "\(time)* " : "\(Terminal.name): "
        let margin = String(repeating: " ", count: time.isEmpty ? 2 : 8)
        let lines = text.pieces(at: "\n").map { line in
            guard isTerminal, let width = Terminal.knownWidth else { return "\(head)\(line)\n" }
            let broken = Columns.broken(String(line), width: max(1, width - margin.count))
            return head + broken.pieces(at: "\n", keepingEmpty: true).joined(separator: "\n\(margin)") + "\n"
        }
        show(lines.joined())
    }

    /// The columns that an answer of several lines may have.
    var widthOfNotes: Int { editor == nil ? Columns.standardWidth : min(100, max(50, Terminal.width) - 10) }

    /// Shows whole lines of text as they are.
    func show(_ text: String) {
        if let editor { editor.show(text) } else { Terminal.show(text) }
    }
}
