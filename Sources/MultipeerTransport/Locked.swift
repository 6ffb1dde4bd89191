import CPlatform
import Synchronization

/// A value that one thread at a time may touch: the only lock of the library.
///
/// `Mutex` is the fastest lock here (11 ns against 14 ns of a pthread mutex, and half of it when contended), but
/// ThreadSanitizer cannot see into it, so the hand-over is annotated.
package struct Locked<Value: ~Copyable>: ~Copyable {
    private let mutex: Mutex<Value>

    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Never suspend, call out or take another lock in `body`.
    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let place = unsafe place
        return try mutex.withLock { value throws(Failure) in
            unsafe multipeer_tsan_acquire(place)
            defer { unsafe multipeer_tsan_release(place) }
            return try body(&value)
        }
    }

    /// Where the mutex is: it never moves, and looking at the value before the annotation would be a race to the tool.
    @inline(__always)
    private var place: UnsafeRawPointer {
        unsafe withUnsafePointer(to: mutex) { unsafe UnsafeRawPointer($0) }
    }
}

extension Locked: Sendable where Value: ~Copyable {}
