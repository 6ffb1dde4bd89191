import Foundation
import Multipeer
import MultipeerTransport

/// A stream to a peer, in the form of Foundation.
///
/// Where it is scheduled, its delegate hears `.openCompleted` behind `open`; `.hasSpaceAvailable`, again each time that
/// something was written and there is room for more; and `.errorOccurred` with an `MCError` when the other side or the
/// link gave up. `write` takes what fits into 64 KiB, and there is room again as the reader takes what was sent.
///
/// It may be used on any thread, also without a run loop: `write` waits until there is room and blocks its thread, so it
/// is not for a task, unless `hasSpaceAvailable` has said yes. `close` ends the stream after what was written; letting go
/// of it without that gives it up, and the reader hears an error. A run loop does not keep it.
final class PeerOutputStream: OutputStream {
    private let flow: OutputStreamBuffer
    private let calls: StreamDelegateCaller
    private let task: Task<Void, Never>

    /// `open` opens the stream of the session, which begins at once, on that executor.
    init(
        on executor: any TaskExecutor,
        open: @escaping @Sendable () async throws(MultipeerError) -> OutgoingStream
    ) {
        let flow = OutputStreamBuffer()
        let calls = StreamDelegateCaller(flow)
        flow.onNews { [weak calls] in calls?.wake() }
        (self.flow, self.calls) = (flow, calls)
        task = Task(executorPreference: executor) { await flow.run(on: executor, open) }
        super.init(toMemory: ())
        calls.attach(self)
    }

    /// Foundation demands it of each kind of stream. Nobody has the type to call it.
    required init(toMemory: ()) { preconditionFailure("a stream to a peer is made by MCSession.startStream") }

    deinit {
        calls.invalidate()
        if flow.abandon() { task.cancel() }
    }

    override weak var delegate: (any StreamDelegate)? {
        get { calls.delegate }
        set { calls.delegate = newValue }
    }

    override func open() { flow.open() }

    override func close() { calls.close() }

    override var streamStatus: Stream.Status { flow.status }

    override var streamError: (any Error)? { flow.error }

    override var hasSpaceAvailable: Bool { flow.hasSpace }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        unsafe flow.write(UnsafeRawBufferPointer(start: buffer, count: max(len, 0)))
    }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        calls.schedule(in: aRunLoop, mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        calls.remove(from: aRunLoop, mode)
    }
}
