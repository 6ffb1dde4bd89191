package import MultipeerCore
import MultipeerFraming

/// A file that one call sends: opened, and read if it is small, on a file loop, which passes it to the session's loop by
/// itself. The task of the call waits for both of them together, and is resumed once.
package final class SmallFileOpening: Sendable {
    /// Opens a file, and reads it if it is small. Blocks.
    package typealias Source = @Sendable () throws(FileFault) -> SmallFile.Opened

    package enum Outcome: Sendable {
        /// All of it is on its way.
        case sent(ChannelSender, SmallFile)
        /// It is too long for that: a channel is still to be opened, and the file to be read.
        case long(FileSource)
        case failed(ResourceFault)
    }

    private enum Phase: Sendable {
        case reading
        /// Waits for the session's loop.
        case read(SmallFile)
        case opened(ChannelSendQueue)
        case cancelled
    }

    /// The receiving peer.
    let uid: UID
    private let name: String
    private let metadata: [UInt8]?
    private let hasDigest: Bool
    private let phase = Locked(Phase.reading)
    private let outcome = Promise<Outcome>()
    private let turn = FileTurn(.outgoing)

    package init(to uid: UID, name: String, metadata: [UInt8]?, digest: Bool) {
        self.uid = uid
        self.name = name
        self.metadata = metadata
        hasDigest = digest
    }

    /// Opens the file, and sends it if it is small. Cancelling the task gives it up. `source` is called on the worker.
    package func open(
        _ source: @escaping Source, on worker: EventLoop, for driver: SessionDriver
    ) async -> Outcome {
        Task(executorPreference: worker.taskExecutor) { await self.read(source, for: driver) }
        let outcome = await outcome.value(onCancel: { self.cancel() })
        // Without its driver the session's loop would no longer take it.
        withExtendedLifetime(driver) {}
        return outcome
    }

    /// On the file loop.
    private func read(_ source: Source, for driver: SessionDriver) async {
        do throws(FileFault) {
            switch try await readInTurn(source) {
            case .long(let file)?: outcome.send(.long(file))
            case .small(let file)?:
                let isWanted = phase.withLock { phase in
                    guard case .reading = phase else { return false }
                    phase = .read(file)
                    return true
                }
                if isWanted { driver.add(self) }
            case nil: fail(.cancelled)
            }
        } catch {
            outcome.send(.failed(.file(error)))
        }
    }

    /// Waits until there is a descriptor for the file. Returns nil when it is cancelled meanwhile.
    private func readInTurn(_ source: Source) async throws(FileFault) -> SmallFile.Opened? {
        if turn.comesAtOnce(), let opened = try readNow(source) { return opened }
        while await turn.wait(while: { self.isReading }) {
            if let opened = try readNow(source) { return opened }
        }
        if isReading { throw FileFault(.tooManyFiles, path: "\"\(name)\"") }
        return nil
    }

    /// Returns nil when there was no descriptor after all.
    private func readNow(_ source: Source) throws(FileFault) -> SmallFile.Opened? {
        do throws(FileFault) {
            let opened = try source()
            switch opened {
            case .long(let file): file.hold(turn)
            case .small: turn.end()
            }
            return opened
        } catch {
            guard error.reason == .tooManyFiles else { throw error }
            return nil
        }
    }

    private var isReading: Bool {
        phase.withLock { phase in
            if case .reading = phase { true } else { false }
        }
    }

    private func cancel() {
        let channel = phase.withLock { phase -> ChannelSendQueue? in
            defer { phase = .cancelled }
            if case .opened(let channel) = phase { return channel }
            return nil
        }
        if let channel { channel.abort(.cancelled) } else { fail(.cancelled) }
        turn.look()
    }
}

/// For the session's loop.
extension SmallFileOpening {
    /// What is sent to open a channel; nil when it was cancelled.
    var opening: ChannelOpening? {
        let file = phase.withLock { phase -> SmallFile? in
            if case .read(let file) = phase { file } else { nil }
        }
        return file.map { file in
            ChannelOpening(
                kind: .resource, name: name, size: file.size, metadata: metadata, hasNoDigest: !hasDigest)
        }
    }

    func fail(_ fault: ChannelFault) { outcome.send(.failed(.channel(fault))) }

    /// Writes everything to its channel. The call returns once OPEN is written.
    func begin(_ channel: ChannelSendQueue, to peer: PeerID) {
        let file = phase.withLock { phase -> SmallFile? in
            guard case .read(let file) = phase else { return nil }
            phase = .opened(channel)
            return file
        }
        guard let file, let whole = file.whole else { return channel.abort(.cancelled) }
        channel.finish(with: whole)
        channel.whenBegun { [self] fault in
            if let fault { return fail(fault) }
            outcome.send(.sent(ChannelSender(to: peer, channel), file))
        }
    }
}
