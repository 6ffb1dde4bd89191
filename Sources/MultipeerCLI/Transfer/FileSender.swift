import MultipeerCommandLine
import MultipeerEssentials

/// Sends the files of one run of `multipeer send`: small ones at once, large ones one after the other.
final class FileSender: Sendable {
    struct Options: Sendable {
        let wantsDigest: Bool
        let limit: LimitedSource.Limit?
    }

    struct State: Sendable {
        /// The files and bundles that are being sent, by the number of the first file.
        var current: [Int: OutgoingResource] = [:]
        /// Whether no more files are started.
        var isAbandoned = false
        var isLinked = true
        /// The numbers of the files that were sent, but for those of which another name was shown.
        var unnamed: Set<Int> = []
        /// Reads what the receiver says.
        var watching: Task<Void, Never>?
        var report: TransferReport
    }

    /// How one file began; nil if it was not tried.
    private struct Beginning: Sendable {
        let start: ContinuousClock.Instant
        let result: Result<OutgoingResource, MultipeerError>?
    }

    /// How one file ended.
    enum Outcome: Sendable {
        case sent(TransferReport.Transfer, address: String?)
        /// Not sent: the receiver has it already.
        case same(bytes: UInt64, digest: [UInt8])
        case declined(TransferNote.Subject)
        /// `word`: the reason for programs, if the receiver has said one.
        case failed(String, word: String? = nil)
        /// Not tried: the link had ended before.
        case unsent
    }

    let sources: [TransferSource]
    /// How many files the receiver is to expect: also those that cannot be sent, so that it knows that they are missing.
    let announced: Int
    let connector: PeerConnector
    let options: Options
    let output: TransferOutput
    let notes = ReceiverNotes()
    let answers = BundleAnswers()
    /// One comparison at a time: each end reads its files from the disk.
    let comparing = AsyncMutex()
    /// Sent when the first of several files of one name has ended; by the numbers of all of them.
    let firsts: [Int: (number: Int, ended: Promise<Void>)]
    let state: Locked<State>
    /// Why the link ended.
    private let end = Promise<DisconnectReason>()

    init(
        _ sources: [TransferSource], _ connector: PeerConnector, _ options: Options, _ output: TransferOutput
    ) {
        self.sources = sources
        self.connector = connector
        self.options = options
        self.output = output
        firsts = FileSender.firsts(sources)
        let failures = FileSender.directories(of: sources).reduce(0) { $0 + $1.failures.count }
        announced = min(sources.count + failures, max(sources.count, FilePosition.most))
        state = Locked(State(report: TransferReport(.sending, isVerbose: connector.isVerbose)))
    }

    private static func firsts(_ sources: [TransferSource]) -> [Int: (number: Int, ended: Promise<Void>)] {
        // No two files of directories have one: two directories of one name are refused.
        let alone = sources.indices.filter { sources[$0].directory == nil }.map { $0 + 1 }
        let names = Dictionary(grouping: alone) { FilePath(sources[$0 - 1].label) }
        var firsts: [Int: (number: Int, ended: Promise<Void>)] = [:]
        for numbers in names.values where numbers.count > 1 {
            let first = (numbers[0], Promise<Void>())
            for number in numbers { firsts[number] = first }
        }
        return firsts
    }

    func run(to name: String?) async throws(CommandError) {
        let peer = try await connector.meet(expecting: name)
        let watching = Task { await watch(peer) }
        state.withLock { $0.watching = watching }
        let files = TransferSource.offer(sources)
        output.totals.expect(files: sources.count, bytes: files.size)
        output.print(.offer(files, peer))
        output.watch()
        let start = ContinuousClock.now
        for directory in FileSender.directories(of: sources) { leaveOut(directory) }
        await sendAll(to: peer, since: start)
        output.stop()
        try await finish(peer, start.duration(to: .now))
    }

    private static func directories(of sources: [TransferSource]) -> [SentDirectory] {
        var seen: Set<ObjectIdentifier> = []
        return sources.compactMap(\.directory).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Shows what of a directory is not sent.
    private func leaveOut(_ directory: SentDirectory) {
        if let omissions = directory.omissions { output.say(omissions) }
        for (name, reason) in directory.failures {
            output.warn(state.withLock { $0.report.fail(name, reason) })
            output.print(.error(name, reason))
        }
    }

    /// Starts files and bundles as the window allows, and shows how each ended, in their order.
    private func sendAll(to peer: PeerID, since start: ContinuousClock.Instant) async {
        let policy = TransferUnit.wantsBundles(sources) ? await answers.policy() : .none
        let units = policy == .none ? sources.indices.map { .file($0) } : TransferUnit.plan(sources)
        await withTaskGroup(of: (Int, [(Int, Outcome)]).self) { group in
            var window = TransferWindow()
            var outcomes: [Int: [(Int, Outcome)]] = [:]
            var (next, shown) = (0, 0)
            while shown < units.count {
                while next < units.count, begin(units[next], &window) {
                    let place = next
                    next += 1
                    switch units[place] {
                    case .bundle(let bundle):
                        group.addTask { (place, await self.send(bundle, to: peer, policy)) }
                    case .file(let index) where sources[index].directory == nil:
                        // In the order in which the user named them: the first of two files with one name is kept.
                        let beginning = await begin(index, to: peer)
                        group.addTask { (place, [(index, await self.outcome(index, beginning, peer))]) }
                    case .file(let index):
                        group.addTask { (place, [(index, await self.send(index, to: peer))]) }
                    }
                }
                guard let (place, ended) = await group.next() else { break }
                end(units[place], &window)
                outcomes[place] = ended
                for (index, _) in ended {
                    if let first = firsts[index + 1], first.number == index + 1 { first.ended.send(()) }
                }
                while let ended = outcomes.removeValue(forKey: shown) {
                    for (index, outcome) in ended {
                        show(outcome, sources[index], index + 1, peer, start.duration(to: .now))
                    }
                    shown += 1
                }
            }
        }
    }

    private func begin(_ unit: TransferUnit, _ window: inout TransferWindow) -> Bool {
        switch unit {
        case .file(let index): window.begin(sources[index].size)
        case .bundle: window.beginBundle()
        }
    }

    private func end(_ unit: TransferUnit, _ window: inout TransferWindow) {
        switch unit {
        case .file(let index): window.end(sources[index].size)
        case .bundle: window.endBundle()
        }
    }

    /// Sends one file of a directory.
    func send(_ index: Int, to peer: PeerID) async -> Outcome {
        await outcome(index, await begin(index, to: peer), peer)
    }

    private func finish(_ peer: PeerID, _ time: Duration) async throws(CommandError) {
        let (report, isLinked) = state.withLock { ($0.report, $0.isLinked) }
        for line in report.directories { output.say(line) }
        if let total = report.total(time) { output.say(total) }
        output.print(.end(report, time))
        if !isLinked {
            let reason = await end.value()
            let text = "the link to \(peer.displayName) ended: \(reason.words)".printable
            guard reason.code == .goodbye else { throw CommandError(text, exit: .linkFailed) }
        }
        if !report.isComplete { throw CommandError("not all files were sent", exit: .incomplete) }
    }

    /// Takes notes about files, the end of the link, and requests for verification, and discards all other events.
    private func watch(_ peer: PeerID) async {
        for await event in connector.session.events {
            switch event {
            case .peer(peer, .notConnected(let reason)):
                end.send(reason)
                answers.end()
                notes.end()
            case .verificationRequested(peer):
                connector.answerVerification(of: peer) { [output] in output.warn($0) }
            case .message(let message) where message.peer == peer:
                if let message = BundleMessage(message: message.bytes) {
                    answers.add(message)
                    continue
                }
                guard let note = TransferNote(message: message.bytes) else { continue }
                notes.add(note, of: sources.count)
                showName(of: note.number, peer.displayName)
            default: break
            }
        }
        answers.end()
        notes.end()
    }

    /// Starts to send one file.
    private func begin(_ index: Int, to peer: PeerID) async -> Beginning {
        let (source, number) = (sources[index], index + 1)
        let start = ContinuousClock.now
        guard state.withLock({ $0.isLinked }) else { return Beginning(start: start, result: nil) }
        do throws(MultipeerError) {
            let metadata = source.metadata(FilePosition(number, of: announced)).metadata
            let resource = try await source.send(
                to: peer, over: connector.session, metadata: metadata,
                digest: options.wantsDigest && !source.isDirectory, limit: options.limit)
            output.totals.begin(number, source.shown, resource.progress)
            let isAbandoned = state.withLock { state in
                state.current[number] = resource
                return state.isAbandoned
            }
            if isAbandoned, !resource.isResumable { resource.cancel() }
            return Beginning(start: start, result: .success(resource))
        } catch {
            return Beginning(start: start, result: .failure(error))
        }
    }

    /// The ends of which a receiver says the reason in a message.
    private static let explained: [MultipeerError.Code] = [
        .declined, .aborted, .cancelled, .noSpace, .tooManyFiles,
    ]

    /// Waits until it is known how a file ended.
    private func outcome(_ index: Int, _ beginning: Beginning, _ peer: PeerID) async -> Outcome {
        let number = index + 1
        guard let result = beginning.result else { return .unsent }
        do throws(MultipeerError) {
            let resource = try result.get()
            var bytes: UInt64 = 0
            var isReceived = false
            defer {
                output.totals.end(number, bytes: bytes, isReceived: isReceived)
                state.withLock { $0.current[number] = nil }
            }
            try await resource.waitUntilReceived()
            (bytes, isReceived) = (resource.completed, true)
            let transfer = TransferReport.Transfer(
                name: sources[index].label, bytes: bytes,
                time: beginning.start.duration(to: .now), digest: resource.digest,
                resumedAt: resource.resumedAt, isDirectory: sources[index].isDirectory)
            return .sent(transfer, address: sources[index].redirection(resource))
        } catch {
            if [.ended, .notConnected].contains(error.code) { state.withLock { $0.isLinked = false } }
            if error.closeCode != nil, FileSender.explained.contains(error.code),
                let note = await notes.reason(number)
            {
                if case .trouble = note { return .failed(note.reason(peer.displayName), word: note.word) }
                if error.code == .declined {
                    let refused = Outcome.declined(note)
                    return await compared([number: refused], with: peer)[number] ?? refused
                }
            }
            let isKept = error.code == .ended && (try? result.get().isResumable) == true
            return .failed(
                TransferReport.reason(error)
                    + (isKept ? TransferReport.resumption(inDirectory: sources[index].directory != nil) : ""))
        }
    }

    private func show(
        _ outcome: Outcome, _ source: TransferSource, _ number: Int, _ peer: PeerID, _ time: Duration
    ) {
        let name = peer.displayName
        switch outcome {
        case .sent(let transfer, let address):
            address.map(output.say)
            if let directory = source.directory {
                state.withLock { $0.report.add(transfer, of: directory.name, at: time) }
            } else {
                output.say(state.withLock { $0.report.add(transfer) })
            }
            output.print(.done(transfer, source.shown))
            state.withLock { _ = $0.unnamed.insert(number) }
            showName(of: number, name)
        case .same(let bytes, let digest):
            state.withLock { $0.report.addSame(of: source.directory?.name) }
            if source.directory == nil {
                output.say("\(source.shown.printable): \(name.printable) has the same file already")
            }
            output.print(.same(source.shown, bytes: bytes, digest))
        case .declined(let note):
            let reason = note.reason(name)
            output.warn(
                state.withLock { $0.report.skip(source.shown, reason, isDifferent: note == .differs) })
            output.print(.error(source.shown, reason, note.word))
        case .failed(let reason, let word):
            output.warn(state.withLock { $0.report.fail(source.shown, reason) })
            output.print(.error(source.shown, reason, word))
        case .unsent:
            // The reason was shown for the first of them.
            state.withLock { _ = $0.report.fail(source.shown, "the link ended") }
            output.print(.error(source.shown, "the link ended"))
        }
    }

    /// Shows under which name the receiver saved a file that was sent, if it is another one, once.
    private func showName(of number: Int, _ peer: String) {
        guard let note = notes.known(number), case .renamed = note,
            state.withLock({ $0.unnamed.remove(number) != nil })
        else { return }
        let source = sources[number - 1]
        let subject = source.directory?.name ?? source.shown
        output.say("\(subject.printable): \(note.reason(peer).printable)")
    }

    /// Leaves, and returns once what the receiver had said before is shown.
    func leave() async {
        await connector.leave()
        await state.withLock(\.watching)?.value
    }

    /// Leaves. Files that cannot go on later are cancelled first, and the receiver is notified; of others it keeps what it has.
    func abandon() async {
        let cancelled = state.withLock { state in
            state.isAbandoned = true
            return state.current.values.filter { !$0.isResumable }
        }
        for resource in cancelled { resource.cancel() }
        for resource in cancelled { try? await resource.waitUntilReceived() }
        await connector.leave()
        output.stop()
    }
}
