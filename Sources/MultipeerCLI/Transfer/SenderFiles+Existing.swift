import MultipeerCommandLine
import MultipeerEssentials

/// Files that were not taken because there is one of their name: whether it is the same.
///
/// The sender is asked to compare only what may be the same: what is known to differ in its size is reported at once, and what
/// the sender does not compare, at the end.
extension SenderFiles {
    /// A file that is there, and the one that was not taken for it.
    struct Existing: Sendable {
        enum Place: Sendable {
            case single(OpenDirectory, String)
            case inside(ReceivedDirectory, RelativePath)
        }

        let place: Place
        /// Of the file that was offered, in bytes.
        let size: UInt64?
        /// As the user of this machine knows the place.
        let shown: String
        /// The directory that it is in, in the same way.
        var directory: String?
    }

    /// What awaits a comparison, by the numbers of the sender.
    struct Awaiting: Sendable {
        let name: String
        let existing: Existing
        let refusal: Refusal
    }

    /// How many files await a comparison at most; the sender compares those of a few bundles at a time.
    private static let mostAwaiting = 8 * FileBundle.mostFiles
    /// The digests that are read at once for one sender, with those that wait for them.
    private static let mostComparisons = 8
    static let differs = "a different file of this name exists"

    /// Notes that a file is not taken. Returns what its sender is to know about it.
    func refuse(_ name: String, _ refusal: Refusal, _ number: Int?) -> TransferNote.Subject? {
        let found = refusal.existing?.sizeHere
        // What came a moment ago may be on its way still: its sender compares when that has ended.
        guard let existing = refusal.existing, found != nil || refusal.note == .repeated, let number else {
            skip(name, refusal.reason, refusal.note)
            return refusal.note
        }
        if let size = existing.size, size != found, refusal.note == .exists {
            skip(name, SenderFiles.differs + refusal.hint, .differs)
            return .differs
        }
        let isAwaiting = state.withLock { state in
            guard !state.isFinished, state.awaiting.count < SenderFiles.mostAwaiting else { return false }
            state.awaiting[number] = Awaiting(name: name, existing: existing, refusal: refusal)
            return true
        }
        if !isAwaiting { skip(name, refusal.reason, refusal.note) }
        return refusal.note
    }

    /// To be called before `compare`, for each message. Returns whether it is to be answered.
    func beginComparison() -> Bool {
        state.withLock { state in
            guard state.comparisons < SenderFiles.mostComparisons else { return false }
            state.comparisons += 1
            return true
        }
    }

    /// Compares files with those that are there, answers, and passes on how many are the same.
    func compare(_ number: Int, _ files: [FileDigest], counted: (Int) -> Void) async {
        await comparing.lock()
        var verdicts: [BundleVerdict] = []
        for file in files { verdicts.append(await verdict(file)) }
        comparing.unlock()
        // Fails if the sender has left, which does not matter to what is here.
        try? await connector.session.send(BundleMessage.compared(number, verdicts).message, to: peer)
        // Before it is idle: a sender that leaves then has sent them.
        counted(verdicts.count { $0 == .same })
        endComparison()
    }

    private func endComparison() {
        let idle = state.withLock { state in
            state.comparisons -= 1
            return state.takeIdle()
        }
        for promise in idle { promise.send(()) }
    }

    private func verdict(_ file: FileDigest) async -> BundleVerdict {
        guard let awaiting = state.withLock({ $0.awaiting.removeValue(forKey: file.number) }) else {
            return .failed
        }
        let existing = awaiting.existing
        // For a sender that has left nothing is read.
        let isHere: @Sendable () -> Bool = { [self] in !state.withLock { $0.isGone } }
        let found = await FileDigest.read(file.number, size: file.size, while: isHere) {
            () throws(FileFault) in
            try existing.open()
        }
        if found == file {
            keepSame(awaiting, file)
            return .same
        }
        let refusal = awaiting.refusal
        guard found != nil else {
            skip(awaiting.name, refusal.reason, refusal.note)
            return refusal.note.map { .refused($0) } ?? .failed
        }
        // What was received a moment ago stays the reason if it is another file.
        if refusal.note == .repeated {
            skip(awaiting.name, refusal.reason, .repeated)
            return .refused(.repeated)
        }
        skip(awaiting.name, SenderFiles.differs + refusal.hint, .differs)
        return .refused(.differs)
    }

    private func keepSame(_ awaiting: Awaiting, _ file: FileDigest) {
        let existing = awaiting.existing
        state.withLock { $0.report.addSame(of: existing.directory) }
        output.totals.end(0, bytes: file.size, isReceived: true)
        if existing.directory == nil {
            output.say("\(existing.shown.printable) was there already, the same file\(origin)")
        }
        output.print(
            .same(awaiting.name, bytes: file.size, file.sha256, path: existing.shown, from: peer))
    }

    /// Reports what was not compared.
    func endComparisons() {
        let rest = state.withLock { state in
            defer { state.awaiting = [:] }
            return state.awaiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for file in rest { skip(file.name, file.refusal.reason, file.refusal.note) }
    }
}

extension SenderFiles.Existing {
    /// The size of the file that is there; nil if what is there is not a file.
    fileprivate var sizeHere: UInt64? {
        let entry: OpenDirectory.Entry?
        switch place {
        case .single(let directory, let name): entry = directory.entry(name)
        case .inside(let directory, let path): entry = try? directory.entry(path)
        }
        if case .file(let size, _, _) = entry?.kind { return size }
        return nil
    }

    /// Follows no link.
    fileprivate func open() throws(FileFault) -> FileSource {
        switch place {
        case .single(let directory, let name): try directory.file(name)
        case .inside(let directory, let path): try directory.file(path)
        }
    }
}
