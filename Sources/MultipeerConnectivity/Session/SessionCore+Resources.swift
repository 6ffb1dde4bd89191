import Foundation
import Multipeer
import MultipeerCore
import MultipeerPlatform
import MultipeerTransport
import MultipeerWeb

/// The handler of one resource that is sent.
///
/// Unchecked: Apple's is not `@Sendable`. The caller gives it away, and it is called once, on the callback queue.
struct ResourceHandler: @unchecked Sendable {
    private let handler: (((any Error)?) -> Void)?

    init(_ handler: (((any Error)?) -> Void)?) { self.handler = handler }

    func call(_ error: (any Error)?) { handler?(error) }
}

// Sending. The handler is called once, on the callback queue.
extension SessionCore {
    /// Validates everything that is known at once: if that fails there is no progress, and the handler receives the reason.
    func sendResource(
        at url: URL, named name: String, to peer: PeerID, _ handler: ResourceHandler
    ) -> Progress? {
        let file: FileSource?
        do {
            file = try open(url, named: name, for: peer)
        } catch {
            callbacks.async { handler.call(error) }
            return nil
        }
        let progress = PeerProgress(
            .uploading, size: file?.size, url: url.isFileURL ? url : nil, in: Progress.current())
        let task = Task(executorPreference: native.executor) { [self, native] in
            let error = await send(progress) { () async throws(MultipeerError) in
                if let file { return try await native.send(file, to: peer, name: name) }
                return try await native.send(document: url, to: peer, name: name)
            }
            callbacks.async { handler.call(error) }
        }
        progress.onCancel { task.cancel() }
        return progress
    }

    /// Returns the opened file, so that it may be removed in the meantime; nil for a document of the web.
    private func open(_ url: URL, named name: String, for peer: PeerID) throws -> FileSource? {
        let scheme = url.scheme?.lowercased()
        guard let scheme, ["file", "http", "https"].contains(scheme) else {
            throw MCError(
                .unsupported,
                "only file, http and https URLs can be sent, not \(scheme ?? "one without scheme")")
        }
        guard stateOf(peer) == .connected else {
            throw MCError(.notConnected, "\(peer) is not connected")
        }
        try checkName(name)
        guard scheme == "file" else { return nil }
        do throws(MultipeerError) { return try FileSource(at: url) } catch { throw MCError(error) }
    }

    /// Returns why the file has not arrived; nil when it has, even if it was cancelled at the last moment.
    private func send(
        _ progress: PeerProgress, _ open: () async throws(MultipeerError) -> OutgoingResource
    ) async -> MCError? {
        let resource: OutgoingResource
        do throws(MultipeerError) {
            resource = try await open()
        } catch {
            await callbacks.run { progress.fail() }
            return MCError(error)
        }
        let following = follow(resource.progress, progress)
        // A separate task: cancelling this one cancels the transfer, whose outcome is awaited.
        let arrival = Task(executorPreference: native.executor) { () -> (UInt64, MultipeerError?) in
            do throws(MultipeerError) { try await resource.waitUntilReceived() } catch { return (0, error) }
            return (resource.written, nil)
        }
        let (size, error) = await withTaskCancellationHandler {
            await arrival.value
        } onCancel: {
            resource.cancel()
        }
        following.cancel()
        await callbacks.run { if error == nil { progress.complete(size) } else { progress.fail() } }
        return error.map { MCError($0) }
    }
}

// Receiving.
extension SessionCore {
    /// Handles a file that a peer offers, on the callback queue. Without a delegate it is declined.
    func received(_ resource: IncomingResource) {
        let progress = PeerProgress(.receiving, size: resource.size)
        progress.onCancel { resource.cancel() }
        var isWanted = false
        withDelegate { session, delegate in
            isWanted = true
            delegate.session(
                session, didStartReceivingResourceWithName: resource.name,
                fromPeer: object(resource.peer), with: progress)
        }
        guard isWanted else { return resource.decline() }
        let end = Promise<Void>()
        receptions.withLock { $0[resource.peer, default: []].append(end) }
        Task(executorPreference: native.executor) { [self] in
            await receive(resource, progress)
            receptions.withLock { all in
                all[resource.peer]?.removeAll { $0 === end }
                if all[resource.peer]?.isEmpty == true { all[resource.peer] = nil }
            }
            end.send(())
        }
    }

    /// The file is in a private directory of its own, which is removed with it when the delegate has returned and has not moved
    /// it away.
    private func receive(_ resource: IncomingResource, _ progress: PeerProgress) async {
        let folder = ResourceFolder()
        let following = follow(resource.progress, progress)
        let result: Result<IncomingResource.File, MultipeerError>
        do throws(MultipeerError) {
            result = .success(try await resource.receive(into: folder, as: FileName.of(label: resource.name)))
        } catch {
            result = .failure(error)
        }
        following.cancel()
        await callbacks.run { [self] in
            switch result {
            case .success(let file):
                progress.complete(file.size, at: file.url)
                finished(resource, file.url, nil)
                unsafe unlink(file.path)
            case .failure(let error):
                progress.fail()
                finished(resource, nil, MCError(error))
            }
        }
        withExtendedLifetime(folder) {}
    }

    private func finished(_ resource: IncomingResource, _ url: URL?, _ error: MCError?) {
        withDelegate { session, delegate in
            delegate.session(
                session, didFinishReceivingResourceWithName: resource.name, fromPeer: object(resource.peer),
                at: url, withError: error)
        }
    }

    /// Updates the progress on the callback queue, until the transfer is over or the task is cancelled.
    private func follow(_ updates: TransferProgress.Updates, _ progress: PeerProgress) -> Task<Void, Never> {
        Task(executorPreference: native.executor) { [self] in
            for await update in updates { await callbacks.run { progress.note(update) } }
        }
    }
}
