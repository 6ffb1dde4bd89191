import MultipeerCommandLine
import MultipeerEssentials

/// The last line of a terminal, in which the user types while messages are shown above it.
///
/// Why it is our own, and not a library's:
///
/// |                             | libedit 3.1          | readline 8.2  | linenoise         | this                   |
/// |-----------------------------|----------------------|---------------|-------------------|------------------------|
/// | licence                     | BSD                  | GPL 3: no     | BSD               | that of the package    |
/// | in Debian, static archive   | yes, yes             | yes, yes      | no                | nothing to install     |
/// | needs                       | tinfo, bsd, terminfo | tinfo         | nothing           | nothing                |
/// | adds to a static C program  | 360 KiB              | not measured  | not measured      | 560 lines of Swift     |
/// | history, Tab                | yes, by callbacks    | yes           | yes               | yes                    |
/// | pasted text                 | each line is entered | yes           | each line entered | one line until Return  |
/// | emoji of several characters | as wide as the sum   | as the sum    | as the sum        | any width is right     |
/// | UTF-8 in a C locale         | no                   | no            | yes               | yes, shown in ASCII    |
/// | lines of peers above it     | by hand: no call     | by hand       | yes, hide / show  | yes                    |
/// | reads                       | blocking, whole line | callbacks     | by byte           | by byte                |
/// | state                       | C structs, unlocked  | globals       | one struct        | a value, tested alone  |
///
/// libedit is the only candidate, and it lacks what a chat needs most: there is no call that takes its line away while another
/// thread writes, so the command would have to redraw the line itself, with a width that it cannot get from the library; and
/// lines that are pasted would be sent one by one. What it has beyond this, vi's keys and `~/.editrc`, a chat does not need.
final class LineEditor: Sendable {
    static let prompt = "> "
    fileprivate static let erasure = "\r\u{1b}[K"

    fileprivate struct State: Sendable {
        var line: EditedLine
        var typed: [UInt8] = []
        var isOver = false
        /// Whether the line has changed since it was shown.
        var isStale = false
        let isASCII: Bool
        /// Returns what stands before a line that was entered.
        let head: @Sendable () -> String
    }

    private let worker = Worker("keys")
    private let state: Locked<State>

    /// Returns nil without a terminal, and on one without escape sequences. `head` returns what stands before a line that was
    /// entered.
    init?(completion: LineCompletion, isASCII: Bool, head: @escaping @Sendable () -> String) {
        guard Terminal.hasScreen(DescriptorStream.input) else { return nil }
        state = Locked(State(line: EditedLine(completion: completion), isASCII: isASCII, head: head))
        Terminal.tellEveryKey { [self] in
            if $0 { erase() }
        } draw: { [self] in
            redraw()
        }
        redraw()
    }

    /// Sets the names that Tab completes.
    func complete(names: [String]) { state.withLock { $0.line.completion.names = names } }

    /// Returns the text that was typed until Return; nil at end of input.
    func next() async throws(CommandError) -> String? {
        try await worker.run { [self] () throws(CommandError) in try read() }
    }

    /// Writes whole lines above the line that is being typed.
    func show(_ text: String) { state.withLock { $0.show(text) } }

    /// Writes the line again, for a terminal that has another width.
    func redraw() { state.withLock { if !$0.isOver { $0.redraw() } } }

    private func erase() { state.withLock { if !$0.isOver { Terminal.show(LineEditor.erasure) } } }

    /// Removes the line for good.
    func end() {
        state.withLock { state in
            if !state.isOver, TerminalHold.isTaken { Terminal.show(LineEditor.erasure) }
            state.isOver = true
        }
    }

    private func read() throws(CommandError) -> String? {
        while true {
            switch state.withLock({ $0.next() }) {
            case .entered(let text): return text
            case .ended: return nil
            case .suspended: SignalHandler.suspend()
            case .changed, .nothing, .cleared, .choices, .full: break
            case nil:
                let more = try DescriptorStream.input.readInForeground(4_096)
                state.withLock { if let more { $0.typed += more } else { $0.isOver = true } }
                if more == nil { return nil }
            }
        }
    }
}

extension LineEditor.State {
    /// The prompt and the line, with the cursor in its place.
    fileprivate var picture: String {
        let prompt = LineEditor.prompt
        let view = line.view(width: max(1, Terminal.width - prompt.count - 1), isASCII: isASCII)
        return prompt + view.text + (view.beforeCursor.map { "\r\(prompt)\($0)" } ?? "")
    }

    fileprivate mutating func redraw() {
        show("")
        isStale = false
    }

    /// Writes whole lines, and the line that is being typed after them while the terminal is held.
    fileprivate func show(_ text: String) {
        guard TerminalHold.isTaken else { return Terminal.show(text) }
        Terminal.show(LineEditor.erasure + text + (isOver ? "" : picture))
    }

    /// Handles the next key and returns its effect; nil when there is none.
    fileprivate mutating func next() -> EditedLine.Effect? {
        guard !typed.isEmpty, !isOver else { return nil }
        let effect = line.take(typed.removeFirst())
        // The effects after these two show the line.
        isStale = effect == .changed || effect == .nothing && isStale
        switch effect {
        case .nothing, .changed, .suspended: break
        case .cleared: show("\u{1b}[H\u{1b}[2J")
        case .full:
            show(
                "\(head())* a line has at most \(EditedLine.longest) bytes: what follows is left out; Return sends it "
                    + "without, Ctrl-U erases it\n")
        case .choices(let words):
            let list = words.map(\.printable).joined(separator: "  ")
            show("\(isASCII ? list.asASCII : list)\n")
        case .entered(let text):
            let lines = text.pieces(at: "\n", keepingEmpty: true)
            let shown = lines.map { "\(head())\(LineEditor.prompt)\(String($0).printableText)\n" }.joined()
            show(isASCII ? shown.asASCII : shown)
        case .ended:
            isOver = true
            show("")
        }
        // Pasted text is shown once, after its end.
        if isStale, typed.isEmpty, !isOver { redraw() }
        return effect
    }
}
