import MultipeerCommandLine
import MultipeerEssentials

/// Receives the files of one run of `multipeer receive`: of one sender, or of one after the other and several at once.
final class FileReceiver: Sendable {
    struct Options: Sendable {
        /// Nil to write one file to standard output.
        let downloads: DownloadDirectory?
        /// The number of files after which it ends.
        let most: Int?
        /// The maximum size of a file in bytes.
        let largest: UInt64?
        /// Whether a file counts as received only when it is on disk.
        let isSynchronized: Bool
        /// Whether it stays for further senders.
        let isStaying: Bool
    }

    /// Why it ends.
    private enum End: Sendable {
        /// There are as many files as the user wants.
        case enough
        case left(DisconnectReason)
        case failed(CommandError)
    }

    private struct State: Sendable {
        var senders: [PeerID: SenderFiles] = [:]
        /// The number of files and texts that were received, and of those that are being received.
        var received = 0
        var active = 0
        /// Files that begin if one of the active ones fails.
        var waiting: [(IncomingResource, SenderFiles)] = []
        var isAbandoned = false
        /// The end of the wait for one sender after the other, or of the command.
        var end = Promise<End>()
    }

    private let connector: PeerConnector
    private let options: Options
    private let output: TransferOutput
    private let writing = Worker("output")
    private let state = Locked(State())
    /// Nil if no file is replaced.
    private let owners: FileOwners?

    init(_ connector: PeerConnector, _ options: Options, _ output: TransferOutput) {
        self.connector = connector
        self.options = options
        self.output = output
        owners = options.downloads?.isForced == true ? FileOwners() : nil
    }

    func run() async throws(CommandError) {
        if options.isStaying { return try await stay() }
        while let nothing = try await receive(from: try await connector.meet()) {
            output.warn("\(nothing.text); waiting for another sender")
        }
    }

    /// Takes the files of one sender. Returns what to say of one that has sent nothing, if another one can be waited for.
    private func receive(from peer: PeerID) async throws(CommandError) -> CommandError? {
        let sender = self.sender(peer)
        greet(peer)
        output.watch()
        let listening = Task { await listen(to: peer) }
        let end = await state.withLock(\.end).value()
        listening.cancel()
        output.stop()
        sender.finish()
        let received = state.withLock { $0.received }
        if let nothing = nothing(end, sender) {
            // The same peer may come again, and has a report of its own then.
            state.withLock { state in
                state.senders[peer] = nil
                state.end = Promise()
            }
            return nothing
        }
        if let error = self.error(end, received, sender) { throw error }
        return nil
    }

    /// Ends the wait for a sender, or the command.
    private func finish(_ end: End) { state.withLock(\.end).send(end) }

    /// Takes files of every sender that is accepted.
    private func stay() async throws(CommandError) {
        let hosting = Task {
            do throws(CommandError) {
                try await connector.host()
            } catch {
                self.finish(.failed(error))
            }
        }
        output.watch()
        let listening = Task { await listen(to: nil) }
        let end = await state.withLock(\.end).value()
        for task in [hosting, listening] { task.cancel() }
        output.stop()
        for sender in state.withLock({ Array($0.senders.values) }) { sender.finish() }
        if case .failed(let error) = end { throw error }
    }

    /// Whether bundles are taken: they cannot be written to standard output, nor their files counted one by one.
    private var bundles: BundleMessage.Policy {
        guard let downloads = options.downloads, options.most == nil else { return .none }
        return downloads.existing == .skip ? .ask : .all
    }

    private func greet(_ peer: PeerID) {
        // Nothing that is written to standard output is there already.
        let greetings: [BundleMessage] =
            [.policy(bundles)] + (options.downloads == nil ? [] : [.compares])
        // Fails if the sender has left already.
        Task {
            for greeting in greetings { try? await connector.session.send(greeting.message, to: peer) }
        }
    }

    private func sender(_ peer: PeerID) -> SenderFiles {
        let (sender, isNew) = state.withLock { state in
            if let known = state.senders[peer] { return (known, false) }
            let new = SenderFiles(peer, connector, options, output, owners)
            state.senders[peer] = new
            return (new, true)
        }
        if isNew { output.print(.offer(connector.offer(of: peer), peer)) }
        return sender
    }

    /// `only`: the one sender; returns when it has left. What comes after that is for the next one.
    private func listen(to only: PeerID?) async {
        for await event in connector.session.events {
            switch event {
            case .peer(let peer, .connected) where only == nil:
                // It comes before all else of the peer, which waits meanwhile: a peer is introduced before its first file.
                await connector.welcome(peer)
                greet(peer)
            case .resource(let resource) where only == nil || resource.peer == only:
                take(resource, of: sender(resource.peer))
            case .message(let message) where BundleMessage.isQuestion(message.bytes):
                guard only == nil || message.peer == only else { continue }
                answer(message.bytes, of: sender(message.peer))
            case .message(let message)
            where (only == nil || message.peer == only) && !message.bytes.isEmpty:
                await print(message.bytes, of: sender(message.peer))
            case .peer(let peer, .notConnected(let reason)) where only == nil || peer == only:
                leave(peer, reason)
                if only != nil { return }
            case .verificationRequested(let peer) where only == nil || peer == only:
                // Files wait meanwhile: a sender that wants to compare codes sends none before that.
                connector.answerVerification(of: peer) { [output] in output.warn($0) }
            default: break
            }
        }
    }

    private func answer(_ message: [UInt8], of sender: SenderFiles) {
        guard case .comparison(let number, let files) = BundleMessage(message: message) else {
            if bundles == .ask { sender.answer(message) }
            return
        }
        guard options.downloads != nil, sender.beginComparison() else { return }
        Task {
            // What is the same counts as received.
            await sender.compare(number, files) { ended($0, of: 0) }
        }
    }

    private func leave(_ peer: PeerID, _ reason: DisconnectReason) {
        // Those that stay may come back at once, and have a report of their own then.
        let sender = state.withLock { state in
            options.isStaying ? state.senders.removeValue(forKey: peer) : state.senders[peer]
        }
        guard let sender else { return }
        sender.gone()
        Task {
            await sender.waitUntilIdle()
            guard options.isStaying else {
                return finish(.left(reason))
            }
            sender.finish()
            let isCounted = options.most != nil
            if let error = sender.error(reason) ?? sender.missing(isCounted: isCounted) {
                output.warn("\(error)")
            }
        }
    }

    /// Decides about a file, and begins to receive it unless there are as many as the user wants.
    private func take(_ resource: IncomingResource, of sender: SenderFiles) {
        if let position = BundlePosition(metadata: resource.metadata) {
            return take(resource, position, of: sender)
        }
        let mayBegin = state.withLock { state in
            if state.isAbandoned { return false }
            if let most = options.most, state.received + state.active >= most {
                state.waiting.append((resource, sender))
                return false
            }
            state.active += 1
            return true
        }
        if mayBegin { return begin(resource, of: sender) }
        if state.withLock(\.isAbandoned) { return resource.cancel() }
        // What its sender takes back waits no longer: it can offer others, without end.
        Task {
            _ = await resource.waitUntilEnded()
            state.withLock { state in state.waiting.removeAll { $0.0 === resource } }
        }
    }

    /// Receives a bundle, which only a receiver has to expect that takes them.
    private func take(_ resource: IncomingResource, _ position: BundlePosition, of sender: SenderFiles) {
        let mayBegin = state.withLock { state in
            guard bundles != .none, !state.isAbandoned else { return false }
            state.active += 1
            return true
        }
        guard mayBegin else { return resource.decline() }
        let id = sender.began(resource)
        Task {
            let count = await sender.receive(resource, position, id)
            ended(count)
            sender.ended(id)
        }
    }

    private func begin(_ resource: IncomingResource, of sender: SenderFiles) {
        sender.inOrder { [self] in
            if state.withLock(\.isAbandoned) {
                resource.cancel()
                return ended(0)
            }
            guard let file = sender.accept(resource) else { return ended(0) }
            Task {
                let isReceived = await sender.receive(file)
                ended(isReceived ? 1 : 0)
                sender.ended(file.id)
            }
        }
    }

    /// `count`: how many files were received. `active`: how many were on their way as these.
    private func ended(_ count: Int, of active: Int = 1) {
        let (isEnough, next) = state.withLock { state in
            state.active -= active
            state.received += count
            let isEnough = options.most.map { state.received >= $0 } ?? false
            return (isEnough, isEnough || state.waiting.isEmpty ? nil : state.waiting.removeFirst())
        }
        if isEnough { finish(.enough) }
        if let next { take(next.0, of: next.1) }
    }

    /// Writes a text to standard output, and confirms that to the sender with an empty message. When the text was not written,
    /// the sender waits until the link ends.
    private func print(_ bytes: [UInt8], of sender: SenderFiles) async {
        let peer = sender.peer
        let name = "text from \(peer.displayName)"
        if let largest = options.largest, bytes.count > largest {
            sender.skip(name, SenderFiles.tooLarge(UInt64(bytes.count), largest))
            if !options.isStaying { finish(.enough) }
            return
        }
        do throws(CommandError) {
            output.clear()
            let shown =
                output.isJSON ? TransferEvent.text(bytes, from: peer).line : FileReceiver.shown(bytes)
            try await writing.run { () throws(CommandError) in try Terminal.put(shown) }
            sender.countText()
        } catch {
            sender.fail(name, "\(error)")
            if !options.isStaying { finish(.enough) }
            return
        }
        // Fails if the sender has left, which does not matter to the text.
        try? await connector.session.send([UInt8](), to: peer)
        let isEnough = state.withLock { state in
            state.received += 1
            return options.most.map { state.received >= $0 } ?? false
        }
        if isEnough { finish(.enough) }
    }

    /// Returns the text as it is for a pipe, and escaped, as a line, for a terminal.
    private static func shown(_ bytes: [UInt8]) -> [UInt8] {
        guard DescriptorStream.output.isTerminal else { return bytes }
        var text = TerminalText()
        let line = text.render(bytes) + text.finish()
        return line.last == UInt8(ascii: "\n") ? line : line + [UInt8(ascii: "\n")]
    }

    /// Returns what became of a sender that has left without sending anything, where the next one is waited for: it may have been
    /// refused by its own side, or its user has changed their mind. One that broke the protocol, or has another verification code, ends
    /// the command, and so does a connection that only this one peer could make.
    private func nothing(_ end: End, _ sender: SenderFiles) -> CommandError? {
        guard case .left(let reason) = end, [.goodbye, .lost, .timedOut].contains(reason.code),
            connector.canMeetAnother, sender.hasSentNothing, !state.withLock(\.isAbandoned)
        else { return nil }
        return sender.error(reason) ?? sender.missing(isCounted: false)
    }

    /// Returns the error at the end; nil when all files were received.
    private func error(_ end: End, _ received: Int, _ sender: SenderFiles) -> CommandError? {
        switch end {
        case .failed(let error): return error
        case .left(let reason):
            if let error = sender.error(reason) { return error }
            if let most = options.most, received < most {
                let name = sender.peer.displayName.printable
                return CommandError(
                    "\(name) disconnected after \(received) of \(most) files", exit: .incomplete)
            }
            return sender.missing(isCounted: options.most != nil)
        case .enough: return sender.error(nil)
        }
    }

    /// Leaves. Files that cannot go on later are cancelled first, and their parts removed; of others the parts are kept.
    func abandon() async {
        let senders = state.withLock { state in
            state.isAbandoned = true
            return Array(state.senders.values)
        }
        for sender in senders { sender.gone() }
        let cancelled = senders.flatMap { $0.cancel() }
        for resource in cancelled { _ = await resource.waitUntilEnded() }
        await connector.leave()
        // A write to standard output can take forever.
        if options.downloads != nil {
            for sender in senders { await sender.waitUntilIdle() }
        }
        output.stop()
    }
}

extension TransferLine {
    init(_ progress: TransferProgress, name: String, _ place: FilePosition?) {
        self.init(
            name: name, place: place?.shown, completed: progress.completedBytes, total: progress.totalBytes,
            rate: progress.bytesPerSecond, left: progress.estimatedTimeRemaining,
            isOver: progress.fractionCompleted == 1)
    }
}
