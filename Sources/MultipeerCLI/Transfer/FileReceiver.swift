import Foundation
import Multipeer
import MultipeerCommandLine

/// Receives the files of one run of `multipeer receive`, one after the other.
final class FileReceiver: Sendable {
    private struct State: Sendable {
        /// The file that is being received.
        var current: IncomingResource?
        /// Whether no more files are accepted.
        var isAbandoned = false
        var report: TransferReport
        var files = ReceivedFiles()
        /// The number of texts that were printed.
        var texts = 0
    }

    private let connector: PeerConnector
    private let downloads: DownloadDirectory
    private let most: Int?
    private let largest: UInt64?
    private let isSynchronized: Bool
    private let display: TransferDisplay
    private let output = Worker("output")
    private let state: Locked<State>

    /// `most`: the number of files after which it ends. `largest`: the maximum size of a file in bytes. `isSynchronized`: whether
    /// a file counts as received only when it is on disk.
    init(
        _ connector: PeerConnector, _ downloads: DownloadDirectory, most: Int?, largest: UInt64?,
        isSynchronized: Bool
    ) {
        self.connector = connector
        self.downloads = downloads
        self.most = most
        self.largest = largest
        self.isSynchronized = isSynchronized
        state = Locked(State(report: TransferReport(.receiving, isVerbose: connector.isVerbose)))
        display = TransferDisplay(isQuiet: connector.isQuiet)
    }

    func run() async throws(CommandError) {
        let peer = try await connector.meet()
        let start = ContinuousClock.now
        let end = await receive(from: peer)
        let time = start.duration(to: .now)
        let (total, commandError) = state.withLock {
            ($0.report.total(time), self.commandError($0, peer, end))
        }
        if let total, !connector.isQuiet { display.say(total) }
        if let commandError { throw commandError }
    }

    /// Receives until there are enough files, or the link ends; then returns why it ended.
    private func receive(from peer: PeerID) async -> DisconnectReason? {
        for await event in connector.session.events {
            switch event {
            case .resource(let resource) where resource.peer == peer:
                await take(resource)
                if hasEnough { return nil }
            case .message(let message) where message.peer == peer && !message.bytes.isEmpty:
                guard await print(message.bytes, from: peer), !hasEnough else { return nil }
            case .peer(peer, .notConnected(let reason)): return reason
            case .verificationRequested(peer):
                // Files wait meanwhile: a sender that wants to compare codes sends none before that.
                connector.answerVerification(of: peer) { [display] in display.warn($0) }
            default: break
            }
        }
        return nil
    }

    private var hasEnough: Bool {
        guard let most else { return false }
        return state.withLock { $0.report.transferred.count + $0.texts } >= most
    }

    /// Writes a text to standard output, and confirms that to the sender with an empty message. Returns false when the text was not written:
    /// the sender waits until then, or until the link ends.
    private func print(_ bytes: [UInt8], from peer: PeerID) async -> Bool {
        let name = "text from \(peer.displayName)"
        if let largest, bytes.count > largest {
            display.warn(state.withLock { $0.report.skip(name, tooLarge(UInt64(bytes.count), largest)) })
            return false
        }
        do throws(CommandError) {
            display.clear()
            try await output.run { () throws(CommandError) in try Terminal.put(FileReceiver.shown(bytes)) }
            state.withLock { $0.texts += 1 }
        } catch {
            display.warn(state.withLock { $0.report.fail(name, "\(error)") })
            return false
        }
        // Fails if the sender has left, which does not matter to the text.
        try? await connector.session.send([UInt8](), to: peer)
        return true
    }

    /// Returns the text as it is for a pipe, and escaped, as a line, for a terminal.
    private static func shown(_ bytes: [UInt8]) -> [UInt8] {
        guard DescriptorStream.output.isTerminal else { return bytes }
        var text = TerminalText()
        let line = text.render(bytes) + text.finish()
        return line.last == UInt8(ascii: "\n") ? line : line + [UInt8(ascii: "\n")]
    }

    private func tooLarge(_ size: UInt64, _ limit: UInt64) -> String {
        "\(HumanReadable.bytes(size)) is more than --max-size \(HumanReadable.bytes(limit))"
    }

    private func take(_ resource: IncomingResource) async {
        let place = FilePosition(metadata: resource.metadata)
        let name = FileName.of(label: resource.name)
        let reason = state.withLock { state in
            state.files.offer(place)
            return refusal(of: resource, as: name, state)
        }
        if let reason {
            resource.decline()
            return display.warn(state.withLock { $0.report.skip(name, reason) })
        }
        let mayBegin = state.withLock { state in
            if !state.isAbandoned { state.current = resource }
            return !state.isAbandoned
        }
        guard mayBegin else { return resource.cancel() }
        await receive(resource, as: name, place)
        state.withLock { $0.current = nil }
    }

    private func refusal(of resource: IncomingResource, as name: String, _ state: State) -> String? {
        if let largest, let size = resource.size, size > largest {
            return tooLarge(size, largest)
        }
        if let obstacle = state.files.obstacle(to: name) { return obstacle }
        return downloads.obstacle(to: name).map {
            downloads.isForced ? $0 : "\($0) (use --force to replace files)"
        }
    }

    private func receive(_ resource: IncomingResource, as name: String, _ place: FilePosition?) async {
        let start = ContinuousClock.now
        let showing = Task { await show(resource, name, place) }
        defer { showing.cancel() }
        do throws(MultipeerError) {
            let folder = URL(filePath: downloads.directory, directoryHint: .isDirectory)
            let file = try await resource.receive(
                into: folder, atMost: largest ?? .max,
                completing: downloads.completion(as: name, isSynchronized: isSynchronized))
            let time = start.duration(to: .now)
            let settled = file.url.lastPathComponent
            let line = state.withLock { state in
                state.files.receive(settled)
                return state.report.add(
                    .init(
                        name: downloads.shown(settled), bytes: file.size, time: time,
                        digest: file.isVerified ? file.digest : nil))
            }
            if !connector.isQuiet { say(line) }
            if settled != name {
                display.warn(
                    "\(name.printable) already exists; saved as \(downloads.shown(settled).printable)")
            }
        } catch {
            fail(name, error)
        }
    }

    private func fail(_ name: String, _ error: MultipeerError) {
        if let largest, error.code == .declined {
            return display.warn(
                state.withLock {
                    $0.report.skip(
                        name, "more than --max-size \(HumanReadable.bytes(largest))")
                })
        }
        display.warn(state.withLock { $0.report.fail(name, TransferReport.reason(error)) })
    }

    private func show(_ resource: IncomingResource, _ name: String, _ place: FilePosition?) async {
        for await progress in resource.progress {
            display.show(TransferLine(progress, name: name, place))
        }
    }

    private func say(_ text: String) { display.say(text) }

    /// Returns the error at the end; nil when all files were received.
    private func commandError(_ state: State, _ peer: PeerID, _ end: DisconnectReason?) -> CommandError? {
        let name = peer.displayName.printable
        if let end, end.code != .goodbye {
            return CommandError("the link to \(name) ended: \("\(end)".printable)", exit: .linkFailed)
        }
        let count = state.report.transferred.count + state.texts
        if !state.report.isComplete { return CommandError("not all files were received", exit: .incomplete) }
        if let most {
            return count < most ? missing("\(name) disconnected after \(count) of \(most) files") : nil
        }
        if count == 0 { return missing("\(name) disconnected without sending a file") }
        let (rest, total) = state.files.missing
        return rest > 0 ? missing("\(name) disconnected; \(rest) of \(total) files missing") : nil
    }

    private func missing(_ text: String) -> CommandError { CommandError(text, exit: .incomplete) }

    /// Cancels the current file, and leaves once its parts are removed and the sender is notified.
    func abandon() async {
        let current = state.withLock { state in
            state.isAbandoned = true
            return state.current
        }
        current?.cancel()
        while state.withLock({ $0.current != nil }) { try? await Task.sleep(for: .milliseconds(2)) }
        await connector.leave()
        display.clear()
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
