import MultipeerCommandLine
import MultipeerEssentials

/// Small files that come together.
extension SenderFiles {
    static let bundlesAtOnce = 4
    /// A peer that reads no answers gets no more of them.
    private static let mostQuestions = 8

    /// Returns how many files were saved.
    func receive(_ resource: IncomingResource, _ position: BundlePosition, _ id: Int) async -> Int {
        guard let downloads = options.downloads, await waitForTurn() else {
            resource.decline()
            return 0
        }
        defer { turns.release() }
        if !options.isStaying {
            output.totals.expect(files: position.files, bytes: connector.offer(of: peer)?.size)
        }
        output.totals.begin(id, FileName.of(label: resource.name), resource.progress)
        let isEncrypted = await connector.session.connectionInfo(for: peer)?.isEncrypted == true
        let saved = Promise<(files: Int, bytes: UInt64)>()
        do throws(MultipeerError) {
            try await resource.receiveWhole(atMost: FileBundle.longest) {
                [self] bytes, isVerified throws(ResourceFault) in
                guard let bundle = SenderFiles.read(bytes, position) else { throw .damaged }
                var saving = BundleSaving(bundle, position, self, downloads)
                let verdicts = saving.run(isAuthentic: isEncrypted || isVerified)
                saved.send((saving.files, saving.bytes))
                await report(.result(position.number, verdicts), saving.notes)
            }
        } catch {
            let reason = "files that came together were not saved: \(TransferReport.reason(error))"
            fail(FileName.of(label: resource.name), reason)
        }
        let (files, bytes) = saved.sentValue ?? (0, 0)
        output.totals.end(id, bytes: bytes, isReceived: files > 0, files: files)
        return files
    }

    /// Returns nil for bytes of any other form, and for files whose numbers are above that of all files.
    private static func read(
        _ bytes: [UInt8], _ position: BundlePosition, isList: Bool = false
    ) -> FileBundle? {
        guard let bundle = try? FileBundle(reading: bytes, isList: isList),
            let first = bundle.entries.first, let last = bundle.entries.last, first.number >= 1,
            last.number <= position.files
        else { return nil }
        return bundle
    }

    private func waitForTurn() async -> Bool {
        do { try await turns.acquire() } catch { return false }
        return true
    }

    /// Fails if the sender has left, which does not matter to what was saved.
    private func report(_ message: BundleMessage, _ notes: [TransferNote]) async {
        for note in notes { try? await connector.session.send(note.message, to: peer) }
        try? await connector.session.send(message.message, to: peer)
    }

    /// Says which files of a list are wanted. Creates at most the directory that they are all in.
    func answer(_ message: [UInt8]) {
        guard case .question(let position, let list) = BundleMessage(message: message),
            let downloads = options.downloads, let bundle = SenderFiles.read(list, position, isList: true)
        else { return }
        let mayAnswer = state.withLock { state in
            guard state.questions < SenderFiles.mostQuestions else { return false }
            state.questions += 1
            return true
        }
        guard mayAnswer else { return }
        // A question of 480 kB takes a second where directories are deep.
        inOrder { [self] in
            var saving = BundleSaving(bundle, position, self, downloads)
            let verdicts = saving.consider()
            Task { [saving] in
                // Before the last message, after which the sender may ask the next question.
                for note in saving.notes { try? await connector.session.send(note.message, to: peer) }
                state.withLock { $0.questions -= 1 }
                await report(.answer(position.number, verdicts), [])
            }
        }
    }
}
