import MultipeerCommandLine
import MultipeerEssentials

/// What a receiver has said about single files, by their numbers.
final class ReceiverNotes: Sendable {
    private struct State: Sendable {
        var notes: [Int: TransferNote.Subject] = [:]
        var waiting: [Int: Promise<TransferNote.Subject?>] = [:]
        /// Whether this peer declines files without a note.
        var isMute = false
    }

    private let state = Locked(State())
    /// A note leaves before the file is declined, but may arrive after that.
    private static let timeLimit = Duration.seconds(1)

    /// `count`: how many files there are; notes about others are dropped.
    func add(_ note: TransferNote, of count: Int) {
        guard (1...count).contains(note.number) else { return }
        let waiting = state.withLock { state in
            state.notes[note.number] = note.subject
            return note.subject.isReason ? state.waiting.removeValue(forKey: note.number) : nil
        }
        waiting?.send(note.subject)
    }

    /// Nothing more will come.
    func end() {
        let waiting = state.withLock { state in
            state.isMute = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for promise in waiting { promise.send(nil) }
    }

    /// Returns the note about a file, if it has come.
    func known(_ number: Int) -> TransferNote.Subject? { state.withLock { $0.notes[number] } }

    /// Returns why a file was not taken, or could not be stored; nil when its receiver does not say.
    func reason(_ number: Int) async -> TransferNote.Subject? {
        let promise = Promise<TransferNote.Subject?>()
        let (known, isMute) = state.withLock { state in
            let known = state.notes[number].flatMap { $0.isReason ? $0 : nil }
            if known == nil, !state.isMute { state.waiting[number] = promise }
            return (known, state.isMute)
        }
        if known != nil || isMute { return known }
        let clock = Task { [self] in
            try await Task.sleep(for: ReceiverNotes.timeLimit)
            guard state.withLock({ $0.waiting.removeValue(forKey: number) }) != nil else { return }
            state.withLock { $0.isMute = true }
            promise.send(nil)
        }
        defer { clock.cancel() }
        return await promise.value()
    }
}
