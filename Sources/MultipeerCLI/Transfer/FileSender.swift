import Foundation
import Multipeer
import MultipeerCommandLine

/// Sends the files of one run of `multipeer send`, one after the other.
final class FileSender: Sendable {
    private struct State: Sendable {
        /// The file that is being sent.
        var current: OutgoingResource?
        /// Whether no more files are started.
        var isAbandoned = false
        var report: TransferReport
    }

    private let sources: [TransferSource]
    private let connector: PeerConnector
    private let wantsDigest: Bool
    private let display: TransferDisplay
    private let state: Locked<State>
    /// Why the link ended.
    private let end = Promise<DisconnectReason>()

    init(_ sources: [TransferSource], _ connector: PeerConnector, wantsDigest: Bool) {
        self.sources = sources
        self.connector = connector
        self.wantsDigest = wantsDigest
        state = Locked(State(report: TransferReport(.sending, isVerbose: connector.isVerbose)))
        display = TransferDisplay(isQuiet: connector.isQuiet)
    }

    func run(to name: String?) async throws(CommandError) {
        let peer = try await connector.meet(expecting: name)
        Task { await watch(peer) }
        let start = ContinuousClock.now
        var isLinked = true
        for (index, source) in sources.enumerated() {
            if isLinked {
                isLinked = await send(source, FilePosition(index + 1, of: sources.count), to: peer)
            } else {
                // The reason was shown for the first of them.
                state.withLock { _ = $0.report.fail(source.label, "the link ended") }
            }
        }
        let time = start.duration(to: .now)
        let (total, isComplete) = state.withLock { ($0.report.total(time), $0.report.isComplete) }
        if let total, !connector.isQuiet { display.say(total) }
        if !isLinked {
            let reason = await end.value()
            let text = "the link to \(peer.displayName) ended: \(reason)".printable
            guard reason.code == .goodbye else { throw CommandError(text, exit: .linkFailed) }
        }
        if !isComplete { throw CommandError("not all files were sent", exit: .incomplete) }
    }

    /// Discards all events but the end of the link and requests for verification.
    private func watch(_ peer: PeerID) async {
        for await event in connector.session.events {
            switch event {
            case .peer(peer, .notConnected(let reason)): end.send(reason)
            case .verificationRequested(peer):
                connector.answerVerification(of: peer) { [display] in display.warn($0) }
            default: break
            }
        }
    }

    /// Sends one file and reports its errors. Returns whether further files can be sent.
    private func send(_ source: TransferSource, _ place: FilePosition, to peer: PeerID) async -> Bool {
        let start = ContinuousClock.now
        do throws(MultipeerError) {
            let resource = try await begin(source, place, to: peer)
            if !connector.isQuiet { source.redirection(resource).map(say) }
            let showing = Task { await show(resource, place) }
            defer { showing.cancel() }
            try await resource.waitUntilReceived()
            finish(source, resource, start.duration(to: .now))
            return true
        } catch {
            display.warn(state.withLock { $0.report.fail(source.label, TransferReport.reason(error)) })
            return ![.ended, .notConnected].contains(error.code)
        }
    }

    private func begin(
        _ source: TransferSource, _ place: FilePosition, to peer: PeerID
    ) async throws(MultipeerError) -> OutgoingResource {
        let resource = try await source.send(
            to: peer, over: connector.session, metadata: place.metadata, digest: wantsDigest)
        let isAbandoned = state.withLock { state in
            state.current = resource
            return state.isAbandoned
        }
        if isAbandoned { resource.cancel() }
        return resource
    }

    private func finish(_ source: TransferSource, _ resource: OutgoingResource, _ time: Duration) {
        let line = state.withLock { state in
            state.report.add(
                .init(name: source.label, bytes: resource.written, time: time, digest: resource.digest))
        }
        if !connector.isQuiet { say(line) }
    }

    private func show(_ resource: OutgoingResource, _ place: FilePosition) async {
        for await progress in resource.progress {
            display.show(TransferLine(progress, name: resource.name, place))
        }
    }

    private func say(_ text: String) { display.say(text) }

    /// Cancels the current file, and leaves once the receiver is notified.
    func abandon() async {
        let current = state.withLock { state in
            state.isAbandoned = true
            return state.current
        }
        if let current {
            current.cancel()
            try? await current.waitUntilReceived()
        }
        await connector.leave()
        display.clear()
    }
}
