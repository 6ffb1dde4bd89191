import Foundation
import Multipeer
import MultipeerTransport

/// A stream to a peer, as a Foundation stream.
///
/// On the run loops where it is scheduled its delegate receives `.openCompleted` after `open`; `.hasSpaceAvailable`, again after
/// each write that leaves room; and `.errorOccurred` with an `MCError` when the other side or the link gave up. While there is
/// room `write` takes up to 64 KiB, whole; and there is room again as the reader takes what was sent.
///
/// It may be used on any thread, also without a run loop: `write` waits for room and blocks its thread, so do not call it in a
/// task, unless `hasSpaceAvailable` is true. `close` ends the stream after what was written, and so does releasing it; before
/// `open` that gives it up, and the reader gets an error. While it is open and scheduled it need not be referenced.
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

    /// Foundation requires it of each kind of stream. Such a stream has no peer.
    required init(toMemory: ()) {
        flow = OutputStreamBuffer()
        calls = StreamDelegateCaller(flow)
        task = Task {}
        super.init(toMemory: ())
    }

    deinit {
        calls.invalidate()
        if flow.release() { task.cancel() }
    }

    override weak var delegate: (any StreamDelegate)? {
        get { calls.delegate }
        set { calls.delegate = newValue }
    }

    override func open() { calls.open() }

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
