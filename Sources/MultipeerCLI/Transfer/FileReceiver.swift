import Foundation
import Multipeer
import MultipeerCommandLine

/// The files of one run of `multipeer receive`, taken one after the other.
final class FileReceiver: Sendable {
    private struct State: Sendable {
        /// What is being received now.
        var current: IncomingResource?
        /// Nothing is taken any more.
        var isAbandoned = false
        var report = TransferReport(.receiving)
        /// Names of files that came in this run, which not even `--force` replaces.
        var names: Set<String> = []
        /// The numbers of the files that the other side has announced, and how many it said there would be.
        var seen: Set<Int> = []
        var announced = 0
    }

    private let connector: PeerConnector
    private let downloads: DownloadDirectory
    private let most: Int?
    private let largest: UInt64?
    private let display: TransferDisplay
    private let state = Locked(State())
    private let files = Worker("files")

    /// `most`: after so many files it is over. `largest`: no file may have more bytes.
    init(_ connector: PeerConnector, _ downloads: DownloadDirectory, most: Int?, largest: UInt64?) {
        self.connector = connector
        self.downloads = downloads
        self.most = most
        self.largest = largest
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

    /// Until enough files have come, or the link ends: then why.
    private func receive(from peer: PeerID) async -> DisconnectReason? {
        for await event in connector.session.events {
            switch event {
            case .resource(let resource) where resource.peer == peer:
                await take(resource)
                if let most, state.withLock({ $0.report.transferred.count }) >= most { return nil }
            case .peer(peer, .notConnected(let reason)): return reason
            case .verificationRequested(peer): connector.refusal(to: peer).map(say)
            default: break
            }
        }
        return nil
    }

    private func take(_ resource: IncomingResource) async {
        let place = FilePosition(metadata: resource.metadata)
        let name = FileName.of(label: resource.name)
        let reason = state.withLock { state in
            if let place {
                state.seen.insert(place.number)
                state.announced = max(state.announced, place.count)
            }
            return refusal(of: resource, as: name, state)
        }
        if let reason {
            resource.decline()
            return say(state.withLock { $0.report.skip(name, reason) })
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
            return "it has \(HumanReadable.bytes(size)), --max-size allows \(HumanReadable.bytes(largest))"
        }
        if state.names.contains(name) { return "a file of this name has just come" }
        return downloads.obstacle(to: name).map { downloads.isForced ? $0 : "\($0) (--force replaces files)" }
    }

    private func receive(_ resource: IncomingResource, as name: String, _ place: FilePosition?) async {
        let start = ContinuousClock.now
        let showing = Task { await show(resource, name, place) }
        defer { showing.cancel() }
        do {
            let folder = URL(filePath: downloads.directory, directoryHint: .isDirectory)
            let file = try await resource.receive(into: folder, atMost: largest ?? .max)
            let time = start.duration(to: .now)
            let settled = try await files.run { [self] () throws(CommandError) in try settle(file, as: name) }
            let line = state.withLock { state in
                state.names.insert(settled)
                return state.report.add(
                    .init(
                        name: settled, bytes: file.size, time: time,
                        digest: file.isVerified ? file.digest : nil))
            }
            if !connector.isQuiet { say(line) }
            if settled != name { say("\(name.printable) was taken meanwhile, this is \(settled.printable)") }
        } catch {
            fail(name, error)
        }
    }

    private func settle(_ file: ReceivedFile, as name: String) throws(CommandError) -> String {
        do throws(CommandError) {
            return try downloads.settle(file.path, as: name)
        } catch {
            _ = unsafe unlink(file.path)
            throw error
        }
    }

    private func fail(_ name: String, _ error: any Error) {
        if let largest, (error as? MultipeerError)?.code == .declined {
            return say(
                state.withLock {
                    $0.report.skip(
                        name, "it has more than \(HumanReadable.bytes(largest)), which --max-size allows")
                })
        }
        let text = (error as? MultipeerError).map(TransferReport.reason) ?? "\(error)"
        say(state.withLock { $0.report.fail(name, text) })
    }

    private func show(_ resource: IncomingResource, _ name: String, _ place: FilePosition?) async {
        for await progress in resource.progress {
            display.show(TransferLine(progress, name: name, place))
        }
    }

    private func say(_ text: String) { display.say(text) }

    /// What is wrong in the end; nil when everything is where it belongs.
    private func commandError(_ state: State, _ peer: PeerID, _ end: DisconnectReason?) -> CommandError? {
        let name = peer.displayName.printable
        if let end, end.code != .goodbye {
            return CommandError("the link to \(name) ended: \("\(end)".printable)", exit: .linkFailed)
        }
        let count = state.report.transferred.count
        if !state.report.isComplete { return CommandError("not every file was received", exit: .incomplete) }
        if let most { return count < most ? missing("\(name) left after \(count) of \(most) files") : nil }
        if count == 0 { return missing("\(name) left without sending a file") }
        let rest = state.announced - state.seen.count
        return rest > 0 ? missing("\(name) left, \(rest) of \(state.announced) files did not come") : nil
    }

    private func missing(_ text: String) -> CommandError { CommandError(text, exit: .incomplete) }

    /// Stops what is on its way, and leaves when nothing of it is left and the other side was told.
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
            name: name, place: place?.shown, completed: progress.completed, total: progress.total,
            rate: progress.rate, left: progress.timeLeft, isOver: progress.fraction == 1)
    }
}
