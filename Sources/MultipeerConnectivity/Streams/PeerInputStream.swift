import Foundation
import Multipeer
import MultipeerTransport

/// A stream that a peer opened, as a Foundation stream: bytes in the order in which they were written.
///
/// From `open` on it has what has arrived. On the run loops where it is scheduled its delegate receives `.openCompleted`;
/// `.hasBytesAvailable`, again after each read that leaves more; and `.endEncountered` after the last byte, or `.errorOccurred`
/// with an `MCError` when the other side or the link gave up. Bytes that arrived before an error can be read first. A reader that
/// stops reading holds back only the writer of this stream.
///
/// It may be used on any thread, also without a run loop: `read` waits for data and blocks its thread, so do not call it in a
/// task before the first `.hasBytesAvailable`. As with Apple's, `hasBytesAvailable` is true also where only `read` can find out:
/// before the first bytes, or the end where there are none. Afterwards it is true as long as bytes have arrived that were not read.
/// `close` gives the stream up, and so does releasing it; before `open` that declines it. While it is open and scheduled, and has a
/// delegate, it need not be referenced.
final class PeerInputStream: InputStream {
    private let flow: InputStreamBuffer
    private let calls: StreamDelegateCaller

    init(_ source: IncomingStream, on executor: any TaskExecutor) {
        let flow = InputStreamBuffer(source, on: executor)
        let calls = StreamDelegateCaller(flow)
        flow.onNews { [weak calls] in calls?.wake() }
        (self.flow, self.calls) = (flow, calls)
        super.init(data: Data())
        calls.attach(self)
    }

    deinit {
        calls.invalidate()
        flow.close()
    }

    override weak var delegate: (any StreamDelegate)? {
        get { calls.delegate }
        set { calls.delegate = newValue }
    }

    override func open() { calls.open() }

    override func close() { calls.close() }

    override var streamStatus: Stream.Status { flow.status }

    override var streamError: (any Error)? { flow.error }

    override var hasBytesAvailable: Bool { flow.mayHaveBytes }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        unsafe flow.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: max(len, 0)))
    }

    /// There is never a buffer to lend.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
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
