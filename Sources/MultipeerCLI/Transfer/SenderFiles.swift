import MultipeerCommandLine
import MultipeerEssentials

/// The files of one sender, on their way to this machine.
final class SenderFiles: Sendable {
    /// A file that is accepted.
    struct File: Sendable {
        let id: Int
        let resource: IncomingResource
        let place: IncomingResource.Place
        let completion: IncomingResource.Completion
        /// Its name for people, as its sender knows it.
        let name: String
        /// What no other file of this sender is called.
        let key: String
        /// The directory that it is in.
        let directory: ReceivedDirectory?
        /// Returns where the file is, as the user named the directory, from its last component.
        let shown: @Sendable (String) -> String
        /// Sent before the file is received.
        var note: TransferNote?
        /// Whether it stands for a directory without files.
        var isEmptyDirectory = false
    }

    struct State: Sendable {
        var report: TransferReport
        var files = ReceivedFiles()
        var active: [Int: IncomingResource] = [:]
        var last = 0
        /// The number of texts that were printed.
        var texts = 0
        /// Questions about bundles whose answer has not left.
        var questions = 0
        /// Files that exist, until the sender compares them, by their numbers.
        var awaiting: [Int: Awaiting] = [:]
        /// Comparisons whose answer has not left.
        var comparisons = 0
        /// What was added to `work` and is not done.
        var pending = 0
        var isFinished = false
        /// Whether it has left, or this end has given up: nothing more is compared.
        var isGone = false
        var idle: [Promise<Void>] = []

        var isIdle: Bool { active.isEmpty && comparisons == 0 && pending == 0 }

        /// Returns those that wait until nothing is on its way, if nothing is.
        mutating func takeIdle() -> [Promise<Void>] {
            guard isIdle else { return [] }
            defer { idle = [] }
            return idle
        }
    }

    /// Why a file is not taken.
    struct Refusal: Error {
        let reason: String
        var note: TransferNote.Subject?
        /// The file that is there, if it may be the same.
        var existing: Existing?
        /// What the user can do, after the reason.
        var hint = ""
    }

    let peer: PeerID
    let connector: PeerConnector
    let options: FileReceiver.Options
    let output: TransferOutput
    let start = ContinuousClock.now
    let state: Locked<State>
    /// Those of all senders.
    private let owners: FileOwners?
    /// The directories that this sender sends, by their names there. Each is created while this is locked, once.
    let directories = Locked<[FilePath: ReceivedDirectory]>([:])
    let created = ReceivedDirectory.Count()
    /// How many bundles are received at once: each is in memory.
    let turns = AsyncSemaphore<Never>(SenderFiles.bundlesAtOnce)
    /// Names are looked up, and directories created, in the order in which the sender asks for it.
    private let work = FileWork()
    /// One file at a time is compared: a sender can ask for what takes long with a short message.
    let comparing = AsyncMutex()

    init(
        _ peer: PeerID, _ connector: PeerConnector, _ options: FileReceiver.Options, _ output: TransferOutput,
        _ owners: FileOwners?
    ) {
        self.peer = peer
        self.connector = connector
        self.options = options
        self.output = output
        self.owners = owners
        state = Locked(State(report: TransferReport(.receiving, isVerbose: connector.isVerbose)))
    }

    static func tooLarge(_ size: UInt64, _ limit: UInt64) -> String {
        "\(HumanReadable.bytes(size)) is more than --max-size \(HumanReadable.bytes(limit))"
    }

    /// Does what waits for the file system, in order. Meanwhile events of all senders are read. The caller bounds how much waits.
    func inOrder(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.pending += 1 }
        work.add { [self] in
            body()
            let idle = state.withLock { state in
                state.pending -= 1
                return state.takeIdle()
            }
            for promise in idle { promise.send(()) }
        }
    }

    // MARK: names

    /// Uses a name that no other file of this sender has, and no file of another one that it would replace. Returns why that is
    /// not possible.
    func reserve(_ key: String, isDirectory: Bool) -> String? {
        if let obstacle = state.withLock({ $0.files.reserve(key) }) { return obstacle }
        // A directory replaces nothing.
        guard !isDirectory, let obstacle = owners?.claim(key, for: peer) else { return nil }
        state.withLock { $0.files.release(key) }
        return obstacle
    }

    /// Gives a name back whose file was not received.
    func release(_ key: String, isDirectory: Bool) {
        state.withLock { $0.files.release(key) }
        if !isDirectory { owners?.end(key, isReceived: false) }
    }

    /// Notes that a file was received under a name that was reserved.
    func keep(_ key: String, isDirectory: Bool) {
        if !isDirectory { owners?.end(key, isReceived: true) }
    }

    // MARK: what is taken

    /// Returns the file if it is received. Otherwise declines it, and says why to both users.
    func accept(_ resource: IncomingResource) -> File? {
        var details: SentFileDetails?
        do throws(Refusal) {
            do throws(RelativePath.Fault) {
                details = try SentFileDetails(metadata: resource.metadata)
            } catch {
                throw Refusal(reason: "\(error)", note: .badName)
            }
            state.withLock { $0.files.offer(details?.position) }
            if !options.isStaying {
                output.totals.expect(files: details?.position.count, bytes: connector.offer(of: peer)?.size)
            }
            if let largest = options.largest, let size = resource.size, size > largest {
                throw Refusal(reason: SenderFiles.tooLarge(size, largest), note: .tooLarge)
            }
            let file = try place(resource, details)
            state.withLock { $0.active[file.id] = resource }
            return file
        } catch {
            let name = details?.path?.text ?? FileName.of(label: resource.name)
            decline(resource, name, details?.position, error)
            return nil
        }
    }

    private func decline(
        _ resource: IncomingResource, _ name: String, _ position: FilePosition?, _ refusal: Refusal
    ) {
        let number = position?.number ?? FilePosition(prefixOf: resource.metadata)?.number
        let note = refuse(name, refusal, number)
        guard let note, let number else { return resource.decline() }
        // A peer that reads no messages delays only its own files.
        Task {
            try? await connector.session.send(TransferNote(number, note).message, to: peer)
            resource.decline()
        }
    }

    // MARK: receiving

    /// Returns whether the file was received.
    func receive(_ file: File) async -> Bool {
        // A peer that reads no messages delays only its own files.
        if let note = file.note { try? await connector.session.send(note.message, to: peer) }
        let began = ContinuousClock.now
        output.totals.begin(file.id, file.name, file.resource.progress)
        do throws(MultipeerError) {
            let received = try await file.resource.receive(
                into: file.place, atMost: file.isEmptyDirectory ? 0 : options.largest ?? .max,
                resuming: options.downloads == nil ? nil : .standard, completing: file.completion)
            output.totals.end(file.id, bytes: received.size, isReceived: true)
            finish(file, received, began.duration(to: .now))
            return true
        } catch {
            output.totals.end(file.id, bytes: 0, isReceived: false)
            release(file.key, isDirectory: file.isEmptyDirectory)
            if error.code == .declined, let largest = options.largest {
                skip(file.name, "more than --max-size \(HumanReadable.bytes(largest))", .tooLarge)
            } else {
                let isKept = error.code == .ended && options.downloads != nil && file.resource.isResumable
                fail(
                    file.name,
                    TransferReport.reason(error)
                        + (isKept ? TransferReport.resumption(inDirectory: file.directory != nil) : ""))
                await explain(error, of: file)
            }
            return false
        }
    }

    /// Says to the sender why a file cannot be stored here.
    private func explain(_ error: MultipeerError, of file: File) async {
        guard let reason = error.file,
            let number = FilePosition(prefixOf: file.resource.metadata)?.number
        else { return }
        let note = TransferNote(number, .trouble(TransferNote.Trouble(reason)))
        // Fails if the sender has left, which does not matter to what is here.
        try? await connector.session.send(note.message, to: peer)
    }

    private func finish(_ file: File, _ received: IncomingResource.File, _ time: Duration) {
        keep(file.key, isDirectory: file.isEmptyDirectory)
        let settled = FilePath(received.path).name
        let path = file.shown(settled)
        let transfer = TransferReport.Transfer(
            name: path, bytes: received.size, time: time,
            digest: received.isVerified ? received.digest : nil, resumedAt: file.resource.resumedAt,
            isDirectory: file.isEmptyDirectory)
        if let directory = file.directory {
            let name = options.downloads?.shown(directory.name) ?? directory.name
            state.withLock { $0.report.add(transfer, of: name, at: start.duration(to: .now)) }
        } else {
            let line = state.withLock { state in
                state.files.receive(settled)
                return state.report.add(transfer)
            }
            output.say(line + origin)
            if settled.hasBytes(of: file.name), !file.name.hasBytes(of: file.resource.name),
                options.downloads != nil
            {
                output.say(
                    "\(file.resource.name.printable) is no safe name here; saved as \(path.printable)")
            }
            if !settled.hasBytes(of: file.name), options.downloads != nil {
                output.warn("\(file.name.printable) already exists; saved as \(path.printable)")
            }
        }
        output.print(
            .done(transfer, file.name, path: options.downloads == nil ? nil : path, from: peer))
    }

    /// Names the sender, where there may be several.
    var origin: String { options.isStaying ? " (from \(peer.displayName.printable))" : "" }

    /// Counts what is received in some other way than `accept`; the result is for `ended`.
    func began(_ resource: IncomingResource) -> Int {
        state.withLock { state in
            state.last += 1
            state.active[state.last] = resource
            return state.last
        }
    }

    func ended(_ id: Int) {
        let idle = state.withLock { state in
            state.active[id] = nil
            return state.takeIdle()
        }
        for promise in idle { promise.send(()) }
    }

    func skip(_ name: String, _ reason: String, _ note: TransferNote.Subject? = nil) {
        output.warn(state.withLock { $0.report.skip(name, reason, isDifferent: note == .differs) } + origin)
        output.print(.error(name, reason, note?.word, from: peer))
    }

    func fail(_ name: String, _ reason: String) {
        output.warn(state.withLock { $0.report.fail(name, reason) } + origin)
        output.print(.error(name, reason, from: peer))
    }

    func countText() { state.withLock { $0.texts += 1 } }

    /// Cancels the files of which no part is kept, and returns them.
    func cancel() -> [IncomingResource] {
        let cancelled = state.withLock { state in
            state.active.values.filter { options.downloads == nil || !$0.isResumable }
        }
        for resource in cancelled { resource.cancel() }
        return cancelled
    }

    /// Waits until no file is on its way.
    func waitUntilIdle() async {
        let promise = Promise<Void>()
        let isIdle = state.withLock { state in
            if !state.isIdle { state.idle.append(promise) }
            return state.isIdle
        }
        if !isIdle { await promise.value() }
    }

    // MARK: the end

    /// Notes that the sender has left: what it still wants compared is not.
    func gone() { state.withLock { $0.isGone = true } }

    /// Shows what was received, once.
    func finish() {
        endComparisons()
        let time = start.duration(to: .now)
        let report = state.withLock { state in
            defer { state.isFinished = true }
            return state.isFinished ? nil : state.report
        }
        guard let report else { return }
        for line in report.directories { output.say(line + origin) }
        if let total = report.total(time) { output.say(total + origin) }
        output.print(.end(report, time, of: peer))
    }

    /// Returns the error of a sender that has left, or of one that was not waited for; nil when all is well, as far as that
    /// does not depend on the number of files.
    func error(_ reason: DisconnectReason?) -> CommandError? {
        let name = peer.displayName.printable
        if let reason, reason.code != .goodbye {
            return CommandError("the link to \(name) ended: \(reason.words)", exit: .linkFailed)
        }
        let isComplete = state.withLock { $0.report.isComplete }
        return isComplete ? nil : CommandError("not all files were received", exit: .incomplete)
    }

    /// Whether nothing has come of it, not even a file that was refused.
    var hasSentNothing: Bool {
        state.withLock { state in
            let report = state.report
            return report.transferred.isEmpty && report.same == 0 && report.isComplete && state.texts == 0
        }
    }

    /// Returns what is missing of a sender that has left. `isCounted`: the user said how many files are enough.
    func missing(isCounted: Bool) -> CommandError? {
        let name = peer.displayName.printable
        let (count, missing) = state.withLock {
            ($0.report.transferred.count + $0.report.same + $0.texts, $0.files.missing)
        }
        if isCounted { return nil }
        if count == 0 {
            return CommandError("\(name) disconnected without sending a file", exit: .incomplete)
        }
        guard missing.count > 0 else { return nil }
        return CommandError(
            "\(name) disconnected; \(missing.count) of \(missing.total) files missing",
            hint: "its command says which, and why", exit: .incomplete)
    }
}
