public import MultipeerCore
import MultipeerFraming
package import MultipeerSecurity
import Synchronization

/// A file that a peer wants to send. Nothing is written before `receive`; releasing it declines it.
public final class IncomingResource: Sendable {
    /// The sender.
    public let peer: PeerID
    /// The sender's name for it: a label for people, never a path. It may contain anything, including `../` and escapes.
    public let name: String
    /// The announced number of bytes; nil when the sender does not know it.
    public let size: UInt64?
    /// The sender's metadata about it, at most 1,024 bytes.
    public let metadata: [UInt8]?

    private enum Phase {
        case offered
        case receiving
        /// Cancelled before it was received.
        case refused(ResourceFault)
        /// Cancelled while it was received: the part that was written is being removed.
        case failed(ResourceFault)
        case over
    }

    let receiver: ChannelReceiver
    private let folder: ResourceFolder
    let meter: ProgressMeter
    private let phase = Locked(Phase.offered)
    private let firstOffset = Atomic<UInt64>(0)

    /// Creates the resource; `folder` is the default directory.
    package init(_ receiver: ChannelReceiver, folder: ResourceFolder) {
        self.receiver = receiver
        self.folder = folder
        peer = receiver.peer
        name = receiver.opening.name
        size = receiver.opening.size
        metadata = receiver.opening.metadata
        meter = ProgressMeter(total: receiver.opening.size)
    }

    // The receiver declines when it is released.
    deinit { meter.end(hasSucceeded: false) }

    /// The progress of the transfer, which begins with `receive`.
    public var progress: TransferProgress.Updates { TransferProgress.Updates(meter) }

    /// The number of bytes that an earlier transfer that broke has left, and that are not sent again. It is 0 until that is known.
    public var resumedAt: UInt64 { firstOffset.load(ordering: .relaxed) }

    /// The sender's key; nil if the link is not encrypted.
    package var peerKey: Fingerprint? { receiver.peerKey }

    /// Whether the sender can go on where an earlier transfer broke.
    package var isResumable: Bool { receiver.opening.isResumable }

    /// Declines it. Acts like `cancel` on one that is being received.
    public func decline() { stop(.declined) }

    /// Declines it because it cannot be received: the sender is notified of that.
    package func refuse(_ fault: ResourceFault) { stop(fault) }

    /// Cancels it: the sender is notified, and nothing of it is kept. Does nothing to one that is over.
    public func cancel() { stop(.cancelled) }

    /// Waits until it can no longer be received, or has been: returns why not, or nil when it has arrived, or when the task
    /// is cancelled.
    package func waitUntilEnded() async -> MultipeerError? {
        let fault = await receiver.waitUntilEnded()
        return fault.map { MultipeerError(.channel($0), of: "the file from \(peer)") }
    }

    /// Where a file is put: in an existing directory, in one that is created for it, or in the session's own. Or it is no
    /// file: its bytes are written to a descriptor as they come, which is not closed.
    package enum Place: Sendable {
        case directory(String)
        case opened(OpenDirectory)
        case descriptor(Int32)
        case folder(ResourceFolder)
        case session
    }

    /// Receives it once into a new file, under a random name by default. It is declined as soon as it has more bytes than
    /// `limit`. The sender is notified once the file is complete in the sense of `completion`. If the sender can go on where an
    /// earlier transfer broke, it is received as `unfinished`, which stays when the link ends.
    package func receive(
        into place: Place, as unfinished: UnfinishedFile? = nil, atMost limit: UInt64 = .max,
        completing completion: Completion = Completion(),
        on worker: EventLoop
    ) async throws(ResourceFault) -> IncomingResource.File {
        try begin()
        let task = Task(executorPreference: worker.taskExecutor) {
            await self.run(place, unfinished, limit, completion)
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    func begin() throws(ResourceFault) {
        try phase.withLock { phase throws(ResourceFault) in
            switch phase {
            case .offered: phase = .receiving
            case .refused(let fault): throw fault
            case .receiving, .failed, .over: throw .taken
            }
        }
        meter.begin()
    }

    private func stop(_ fault: ResourceFault) {
        let isOpen = phase.withLock { phase in
            switch phase {
            case .offered: phase = .refused(fault)
            case .receiving: phase = .failed(fault)
            case .refused, .failed, .over: return false
            }
            return true
        }
        if !isOpen { return }
        receiver.stop(fault.closeCode)  // [resource.cancel]
        meter.end(hasSucceeded: false)
    }

    /// Returns whether it was not cancelled before; from here on it cannot be.
    func commit() -> Bool {
        phase.withLock { phase in
            guard case .receiving = phase else { return false }
            phase = .over
            return true
        }
    }

    private func run(
        _ place: Place, _ unfinished: UnfinishedFile?, _ limit: UInt64, _ completion: Completion
    ) async -> Result<IncomingResource.File, ResourceFault> {
        var result: Result<IncomingResource.File, ResourceFault>
        do throws(ResourceFault) {
            result = .success(try await store(place, unfinished, limit, completion))
        } catch {
            result = .failure(give(up: error))
        }
        if case .success = result { receiver.done(.ok) }  // [resource.done]
        meter.end(hasSucceeded: result.isSuccess)
        return result
    }

    /// Gives up; the file is removed by now. Returns the fault that came first.
    func give(up fault: ResourceFault) -> ResourceFault {
        let earlier = phase.withLock { phase -> ResourceFault? in
            defer { phase = .over }
            if case .failed(let earlier) = phase { return earlier }
            return nil
        }
        if earlier == nil { receiver.stop(fault.closeCode) }
        return earlier ?? fault
    }

    /// Writes everything to the file and checks it; when this returns, the file is closed, has its name and is kept.
    private func store(
        _ place: Place, _ unfinished: UnfinishedFile?, _ limit: UInt64, _ completion: Completion
    ) async throws(ResourceFault) -> IncomingResource.File {
        // What is put together from two transfers needs the digest.
        let unfinished = isResumable && !receiver.opening.hasNoDigest ? unfinished : nil
        var sink = try await openInTurn(place, unfinished)
        do throws(ResourceFault) {
            return try await fill(&sink, limit, completion)
        } catch {
            // What one side gave up is not kept, nor what is wrong. [resource.cancel]
            if case .channel(.ended) = error, let unfinished, isReceiving {
                sink.keepUnfinished(for: unfinished.lifetime)  // [resource.partial]
            }
            throw error
        }
    }

    private var isReceiving: Bool {
        phase.withLock { phase in
            if case .receiving = phase { true } else { false }
        }
    }

    private func fill(
        _ sink: inout FileSink, _ limit: UInt64, _ completion: Completion
    ) async throws(ResourceFault) -> IncomingResource.File {
        var hasher: SHA256.Hasher? = SHA256.Hasher()
        var count: UInt64 = 0
        if isResumable { count = try await resume(&sink, &hasher) }
        if count > limit { throw .declined }
        if receiver.opening.hasNoDigest { hasher = nil }
        while let pieces = try await next() {
            for piece in pieces {
                count += UInt64(piece.count)
                hasher?.update(piece)
            }
            if let size, count > size { throw .damaged }  // [resource.size]
            if count > limit { throw .declined }
            if sink.waitsForReader {
                try await write(pieces, for: sink)
            } else {
                // [resource.space]
                do throws(FileFault) { try sink.write(pieces) } catch { throw .file(error) }
            }
            meter.note(count)
        }
        if let size, count < size { throw .damaged }  // [resource.size]
        let digest = hasher.take()?.finish()
        if let promised = receiver.digest {
            guard promised == digest else { throw .damaged }  // [resource.digest]
        } else if resumedAt > 0 {
            throw .damaged  // [resource.begin]
        }
        let path = try complete(&sink, completion)
        return IncomingResource.File(
            path: path, name: name, size: count, digest: digest, isVerified: receiver.digest != nil)
    }

    /// Writes to something with a reader, which may pause. Other files have the thread meanwhile, and this one can be cancelled.
    private func write(_ pieces: [[UInt8]], for sink: borrowing FileSink) async throws(ResourceFault) {
        var pauses = 0
        for piece in pieces {
            var rest = piece[...]
            while !rest.isEmpty {
                let count: Int
                do throws(FileFault) {
                    count = try sink.writeSome(rest, waiting: pauses < 50 ? 1 : 0)
                } catch {
                    throw .file(error)
                }
                rest = rest.dropFirst(count)
                pauses = count > 0 ? 0 : pauses + 1
                if count > 0 { continue }
                guard isReceiving else { throw .cancelled }
                if pauses < 50 {
                    await Task.yield()
                } else {
                    do { try await Pause.sleep(for: .milliseconds(50)) } catch { throw .cancelled }
                }
            }
        }
    }

    /// Offers the sender what there is. Returns how much of that remains: all of it, or nothing.
    private func resume(
        _ sink: inout FileSink, _ hasher: inout SHA256.Hasher?
    ) async throws(ResourceFault) -> UInt64 {
        var prefix = SHA256.Hasher()
        var position: UInt64 = 0
        while position < sink.count {
            let count = Int(min(sink.count - position, UInt64(FileRead.piece)))
            do throws(FileFault) { prefix.update(try sink.read(at: position, count)) } catch {
                throw .file(error)
            }
            position += UInt64(count)
            if let fault = receiver.fault { throw .channel(fault) }
            // Other transfers go on meanwhile.
            await Task.yield()
        }
        let offset: UInt64
        do throws(ChannelFault) {
            let offer = ResumeOffer(offset: sink.count, sha256: prefix.digest())
            offset = try await receiver.resume(offer)  // [resource.resumable]
        } catch {
            throw .channel(error)
        }
        if offset == 0, sink.count > 0 {
            do throws(FileFault) { try sink.clear() } catch { throw .file(error) }
        } else {
            hasher = consume prefix
        }
        firstOffset.store(offset, ordering: .relaxed)
        meter.goOn(after: offset)
        return offset
    }

    /// Closes the file and gives it its name. From the rename on it cannot be cancelled.
    private func complete(
        _ sink: inout FileSink, _ completion: Completion
    ) throws(ResourceFault) -> String {
        do throws(FileFault) {
            try sink.close(isSynchronized: completion.isSynchronized)
        } catch {
            throw .file(error)
        }
        guard commit() else { throw .cancelled }
        do throws(FileFault) {
            let path = try completion.rename(sink.path)
            sink.keep()
            guard completion.isSynchronized else { return path }
            do throws(FileFault) { try sink.synchronizeDirectory() } catch {
                // For its sender and for the application it is not there.
                sink.remove(named: FilePath(path).name)
                throw error
            }
            return path
        } catch {
            throw .file(error)
        }
    }

    /// Waits until there is a descriptor for the file: its sender waits, too, as nothing that it sends is taken. [resource.files]
    private func openInTurn(
        _ place: Place, _ unfinished: UnfinishedFile?
    ) async throws(ResourceFault) -> FileSink {
        let turn = FileTurn(.incoming)
        if turn.comesAtOnce(), let sink = try open(place, unfinished, in: turn) { return sink }
        let ending = Task.following { [receiver] in
            _ = await receiver.waitUntilEnded()
            turn.look()
        }
        defer { ending.cancel() }
        while await turn.wait(while: { self.isReceiving && self.receiver.fault == nil }) {
            if let sink = try open(place, unfinished, in: turn) { return sink }
        }
        if let fault = receiver.fault { throw .channel(fault) }
        guard isReceiving else { throw .cancelled }
        throw .file(FileFault(.tooManyFiles, path: "the file from \(peer)"))
    }

    /// Returns nil when there was no descriptor after all.
    private func open(
        _ place: Place, _ unfinished: UnfinishedFile?, in turn: FileTurn
    ) throws(ResourceFault) -> FileSink? {
        do throws(ResourceFault) {
            var sink = try open(place, unfinished)
            sink.hold(turn)
            return sink
        } catch {
            guard case .file(let fault) = error, fault.reason == .tooManyFiles else { throw error }
            return nil
        }
    }

    private func open(_ place: Place, _ unfinished: UnfinishedFile?) throws(ResourceFault) -> FileSink {
        do throws(FileFault) {
            return switch place {
            case .directory(let path): try FileSink(in: path, size: size, unfinished: unfinished)
            case .opened(let directory): try FileSink(in: directory, size: size, unfinished: unfinished)
            case .descriptor(let number): try FileSink(to: number)
            case .folder(let folder): try sink(in: folder, unfinished)
            case .session: try FileSink(in: folder.directory(), size: size)
            }
        } catch {
            throw .file(error)
        }
    }

    /// A part outlives the session's directory.
    private func sink(in folder: ResourceFolder, _ unfinished: UnfinishedFile?) throws(FileFault) -> FileSink
    {
        if let unfinished, let parts = UnfinishedFile.directory() {
            return try FileSink(in: parts, size: size, unfinished: unfinished)
        }
        return try FileSink(in: folder.directory(), size: size)
    }

    func next() async throws(ResourceFault) -> [[UInt8]]? {
        do throws(ChannelFault) { return try await receiver.next() } catch { throw .channel(error) }
    }
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
}
