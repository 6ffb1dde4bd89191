import Foundation
import Multipeer
import MultipeerCommandLine

/// The last line of a terminal, in which the user types while messages are shown above it.
final class LineEditor: Sendable {
    private static let prompt = "> "
    private static let erasure = "\r\u{1b}[K"

    fileprivate struct State: Sendable {
        var line = EditedLine()
        var typed: [UInt8] = []
        var isOver = false
    }

    private let worker = Worker("keys")
    private let state = Locked(State())

    /// Returns nil without a terminal, and on one without escape sequences.
    init?() {
        guard Terminal.hasScreen(DescriptorStream.input), Terminal.tellEveryKey() else { return nil }
        Terminal.show(LineEditor.prompt)
    }

    /// Returns the text that was typed until Return; nil at end of input.
    func next() async throws(CommandError) -> String? {
        try await worker.run { [self] () throws(CommandError) in try read() }
    }

    /// Writes whole lines above the line that is being typed.
    func show(_ text: String) {
        state.withLock { state in
            let line = state.isOver ? "" : LineEditor.picture(of: state.line.text)
            Terminal.show(LineEditor.erasure + text + line)
        }
    }

    /// Removes the line for good.
    func end() {
        state.withLock { state in
            if !state.isOver { Terminal.show(LineEditor.erasure) }
            state.isOver = true
        }
    }

    private func read() throws(CommandError) -> String? {
        while true {
            switch state.withLock({ $0.next() }) {
            case .entered(let text): return text
            case .ended: return nil
            case .changed, .nothing: break
            case nil:
                let more = try DescriptorStream.input.read(4_096)
                state.withLock { if let more { $0.typed += more } else { $0.isOver = true } }
                if more == nil { return nil }
            }
        }
    }

    fileprivate static func picture(of text: String) -> String {
        prompt + EditedLine.tail(of: text, width: Terminal.width - prompt.count - 1)
    }
}

extension LineEditor.State {
    /// Handles the next key and returns its effect; nil when there is none.
    fileprivate mutating func next() -> EditedLine.Effect? {
        guard !typed.isEmpty, !isOver else { return nil }
        let effect = line.take(typed.removeFirst())
        switch effect {
        case .nothing: break
        case .changed:
            // Pasted text is shown once.
            if typed.isEmpty { Terminal.show("\r\(LineEditor.picture(of: line.text))\u{1b}[K") }
        case .entered(let text):
            let next = LineEditor.picture(of: line.text)
            Terminal.show("\r\(LineEditor.picture(of: text))\u{1b}[K\n\(next)")
        case .ended:
            isOver = true
            Terminal.show("\r\u{1b}[K")
        }
        return effect
    }
}
