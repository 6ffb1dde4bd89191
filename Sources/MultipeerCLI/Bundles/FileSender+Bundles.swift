import MultipeerCommandLine
import MultipeerEssentials

/// Small files that leave together.
extension FileSender {
    /// Sends a bundle, and returns how each of its files ended, in their order.
    func send(
        _ bundle: SentBundle, to peer: PeerID, _ policy: BundleMessage.Policy
    ) async -> [(Int, Outcome)] {
        var outcomes: [Int: Outcome] = [:]
        var wanted = bundle.files
        let position = BundlePosition(bundle.number, files: announced)
        guard state.withLock({ $0.isLinked }) else {
            return bundle.files.map { ($0.number - 1, .unsent) }
        }
        if policy == .ask {
            let verdicts = await answers.ask(
                position, list: bundle.list, wanted.count, peer, connector.session)
            for (file, verdict) in zip(wanted, verdicts ?? []) where verdict != .taken {
                outcomes[file.number] = outcome(verdict, of: file.number, peer)
            }
            // What is not known to be there is sent: it is refused if it is.
            wanted.removeAll { outcomes[$0.number] != nil }
        }
        var grown: [Int] = []
        if !wanted.isEmpty {
            let contents = Promise<SentBundle.Contents>()
            let results = await deliver(wanted, of: bundle, position, to: peer, contents)
            outcomes.merge(results) { $1 }
            grown = contents.sentValue?.grown ?? []
        }
        outcomes = await compared(outcomes, with: peer)
        for number in grown { outcomes[number] = await send(number - 1, to: peer) }
        return bundle.files.map { ($0.number - 1, outcomes[$0.number] ?? .unsent) }
    }

    private func deliver(
        _ wanted: [SentBundle.File], of bundle: SentBundle, _ position: BundlePosition, to peer: PeerID,
        _ contents: Promise<SentBundle.Contents>
    ) async -> [Int: Outcome] {
        let began = ContinuousClock.now
        answers.expectResult(bundle.number)
        defer { answers.forgetResult(bundle.number) }
        var outcomes: [Int: Outcome] = [:]
        var fault: MultipeerError?
        var verdicts: [BundleVerdict]?
        do throws(MultipeerError) {
            let resource = try await start(wanted, of: bundle, position, to: peer, contents)
            let size = contents.sentValue?.files.reduce(0) { $0 + UInt64($1.size) } ?? 0
            let key = wanted[0].number
            output.totals.begin(key, wanted[0].entry.path.text, resource.progress, atMost: size)
            let isAbandoned = state.withLock { state in
                state.current[key] = resource
                return state.isAbandoned
            }
            if isAbandoned { resource.cancel() }
            var received = (files: 0, bytes: UInt64(0))
            defer {
                output.totals.end(
                    key, bytes: received.bytes, isReceived: received.files > 0, files: received.files)
                state.withLock { $0.current[key] = nil }
            }
            try await resource.waitUntilReceived()
            let files = contents.sentValue?.files ?? []
            verdicts = await answers.result(bundle.number, files.count)
            for (file, verdict) in zip(files, verdicts ?? []) where verdict == .taken {
                received.files += 1
                received.bytes += UInt64(file.size)
            }
        } catch {
            if [.ended, .notConnected].contains(error.code) { state.withLock { $0.isLinked = false } }
            fault = error
        }
        let time = began.duration(to: .now)
        let (files, failures) = (contents.sentValue?.files ?? [], contents.sentValue?.failures ?? [])
        for (number, fault) in failures {
            outcomes[number] = .failed(TransferReport.reason(MultipeerError(.file(fault), of: "the file")))
        }
        for (place, file) in files.enumerated() {
            outcomes[file.number] =
                if let fault {
                    .failed(FileSender.reason(fault))
                } else if let verdicts, verdicts[place] != .taken {
                    outcome(verdicts[place], of: file.number, peer)
                } else if verdicts == nil {
                    .failed("the other side does not say whether it has it")
                } else {
                    .sent(
                        TransferReport.Transfer(
                            name: sources[file.number - 1].label, bytes: UInt64(file.size), time: time,
                            digest: file.digest, isDirectory: sources[file.number - 1].isDirectory),
                        address: nil)
                }
        }
        // Nothing was read, because the link had ended.
        if files.isEmpty, failures.isEmpty, let fault {
            for file in wanted { outcomes[file.number] = .failed(FileSender.reason(fault)) }
        }
        return outcomes
    }

    /// Reads the files, and starts to send them.
    private func start(
        _ wanted: [SentBundle.File], of bundle: SentBundle, _ position: BundlePosition, to peer: PeerID,
        _ contents: Promise<SentBundle.Contents>
    ) async throws(MultipeerError) -> OutgoingResource {
        let wantsDigests = output.isJSON && options.wantsDigest
        // TLS authenticates the same bytes between the same ends. A digest of each bundle would take a sixth of the time.
        let isEncrypted = await connector.session.connectionInfo(for: peer)?.isEncrypted == true
        let digest = options.wantsDigest && !isEncrypted
        let read = { @Sendable () throws(FileFault) -> [UInt8] in
            var found = bundle.contents(of: wanted, withDigests: wantsDigests)
            let bytes = found.bytes
            found.bytes = []
            contents.send(found)
            guard !found.files.isEmpty else { throw FileFault(.notFound, path: bundle.directory.name) }
            return bytes
        }
        let (name, session) = (bundle.directory.name, connector.session)
        guard let limit = options.limit else {
            return try await session.send(
                whole: read, to: peer, name: name, metadata: position.metadata, digest: digest)
        }
        return try await session.send(to: peer, name, position.metadata, digest) {
            _ throws(ResourceFault) in
            do throws(FileFault) {
                return (LimitedSource(WholeSource(try read()), limit), nil)
            } catch {
                throw .file(error)
            }
        }
    }

    private static func reason(_ error: MultipeerError) -> String {
        TransferReport.reason(error)
            + (error.code == .ended ? TransferReport.resumption(inDirectory: true) : "")
    }

    /// The reason of a failure has come before the verdict.
    private func outcome(_ verdict: BundleVerdict, of number: Int, _ peer: PeerID) -> Outcome {
        if case .refused(let subject) = verdict { return .declined(subject) }
        let known = notes.known(number)
        let trouble: TransferNote.Trouble? =
            if case .trouble(let trouble) = known { trouble } else { verdict == .noSpace ? .noSpace : nil }
        let note = TransferNote.Subject.trouble(trouble ?? .other)
        return .failed(note.reason(peer.displayName), word: note.word)
    }
}

/// Bytes that are there already.
private final class WholeSource: PieceSource {
    private let bytes: Locked<[UInt8]?>
    let size: UInt64?

    init(_ bytes: [UInt8]) {
        self.bytes = Locked(bytes)
        size = UInt64(bytes.count)
    }

    func next() async throws(ResourceFault) -> [UInt8]? { bytes.withLock { $0.take() } }

    func cancel() {}
}
