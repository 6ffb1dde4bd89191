public import MultipeerCore
import MultipeerFraming
import MultipeerSecurity
import Synchronization

/// A file on its way to a peer.
///
/// The transfer continues by itself; releasing this object does not end it.
public final class OutgoingResource: Sendable {
    /// The receiving peer.
    public let peer: PeerID
    /// The name that is sent to the peer.
    public let name: String
    /// The number of bytes; nil when it is not known yet.
    public let size: UInt64?
    /// The address of a document of a web server, after all redirections, without its user and query; nil for anything else.
    public let documentAddress: String?

    private let sender: ChannelSender
    private let meter: ProgressMeter
    /// Why this side gave up, if it did.
    private let ownFault = Promise<ResourceFault>()
    private let result = Promise<Outcome>()
    private let wholeDigest = Promise<[UInt8]>()
    private let firstOffset = Atomic<UInt64>(0)

    package enum Outcome: Equatable, Sendable {
        case arrived
        case failed(ResourceFault)
    }

    /// Begins to send. The worker is a loop of the file pool.
    package init(_ sender: ChannelSender, _ source: any PieceSource, digest: Bool, on worker: EventLoop) {
        peer = sender.peer
        name = sender.opening.name
        size = source.size
        documentAddress = source.address
        self.sender = sender
        meter = ProgressMeter(total: source.size)
        if let whole = source.whole {
            if let digest = whole.digest { wholeDigest.send(digest) }
            sender.whenSettled { [self] fault in settle(fault) }
        } else {
            let pumping = Task(executorPreference: worker.taskExecutor) { await self.pump(source, digest) }
            sender.whenSettled { [self] fault in
                settle(fault)
                pumping.cancel()
                source.cancel()
            }
        }
    }

    /// The progress of the transfer.
    public var progress: TransferProgress.Updates { TransferProgress.Updates(meter) }

    /// The number of bytes that the peer had from an earlier transfer that broke, and that are not sent again. It is 0 until that
    /// is known.
    public var resumedAt: UInt64 { firstOffset.load(ordering: .relaxed) }

    /// Whether the peer may keep a part of it if the transfer breaks.
    package var isResumable: Bool { sender.opening.isResumable }

    /// Bytes that were handed to the link so far.
    package var written: UInt64 { sender.written }

    /// All bytes that were sent, by this transfer or the one before.
    package var completed: UInt64 { resumedAt + sender.written }

    /// The SHA-256 of all bytes, once they are read; nil when none was requested.
    package var digest: [UInt8]? { wholeDigest.sentValue }

    /// Cancels it: the peer is notified, and keeps nothing. Does nothing to one that is over.
    public func cancel() { fail(.cancelled) }

    /// Waits until the receiver has closed the file, or until it is known why it will not. Returns nil when the task is cancelled
    /// first, which does not cancel the transfer.
    package func outcome() async -> Outcome? { await result.valueUnlessCancelled() }

    /// Called before the source is cancelled, which may fail for that reason.
    private func settle(_ fault: ChannelFault?) {
        let ownFault = ownFault.sentValue
        if fault == nil { meter.note(completed) }
        meter.end(hasSucceeded: fault == nil)
        result.send(fault.map { .failed(ownFault ?? .channel($0)) } ?? .arrived)  // [resource.done]
    }

    private func pump(_ source: any PieceSource, _ digest: Bool) async {
        var hasher = SHA256.Hasher()
        do throws(ResourceFault) {
            if sender.opening.isResumable { try await resume(source, &hasher) }
            while let piece = try await source.next() {
                if digest { hasher.update(piece) }
                try await write(piece)
                meter.note(completed)
            }
            let promised = digest ? hasher.finish() : nil
            if let promised { wholeDigest.send(promised) }
            sender.finish(digest: promised)  // [resource.digest]
        } catch {
            fail(error)
        }
    }

    /// Waits for what the peer has, compares that with the first bytes of the source, and begins after them, or at the first byte.
    private func resume(_ source: any PieceSource, _ hasher: inout SHA256.Hasher) async throws(ResourceFault)
    {
        let offer: ResumeOffer
        do throws(ChannelFault) { offer = try await sender.resumption() } catch { throw .channel(error) }
        var offset: UInt64 = 0
        if offer.offset > 0, let source = source as? any RepeatableSource {
            var position: UInt64 = 0
            while position < offer.offset {
                let count = Int(min(offer.offset - position, UInt64(FileRead.piece)))
                do throws(FileFault) { hasher.update(try source.read(at: position, count)) } catch {
                    throw .file(error)
                }
                position += UInt64(count)
                if Task.isCancelled { throw .cancelled }
                // Other transfers go on meanwhile.
                await Task.yield()
            }
            if hasher.digest() == offer.sha256 { offset = offer.offset } else { hasher = SHA256.Hasher() }
            do throws(FileFault) { try source.skip(to: offset) } catch { throw .file(error) }
        }
        firstOffset.store(offset, ordering: .relaxed)
        meter.goOn(after: offset)
        sender.begin(at: offset)  // [resource.begin]
    }

    private func write(_ piece: [UInt8]) async throws(ResourceFault) {
        do throws(ChannelFault) { try await sender.write(piece) } catch { throw .channel(error) }
    }

    /// Gives up; the first reason counts. When the peer or the link was first, the channel is over, and this changes nothing.
    private func fail(_ fault: ResourceFault) {
        if ownFault.send(fault) { sender.abort(fault.closeCode) }  // [resource.cancel]
    }
}
