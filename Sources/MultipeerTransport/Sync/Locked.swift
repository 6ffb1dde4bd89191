import CPlatform
public import Synchronization

/// A value that only one thread at a time may access: the only lock of the library.
///
/// `Mutex` is the fastest lock here (11 ns against 14 ns of a pthread mutex, and half of it when contended), but
/// ThreadSanitizer cannot see into it, so the hand-over is annotated. Inlinable, so that it is specialised in the modules
/// above as well: a lock around a value of theirs costs twice as much otherwise.
@usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>

    @inlinable
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Never suspend, call out or take another lock in `body`.
    @inlinable
    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let place = unsafe place
        return try mutex.withLock { value throws(Failure) in
            unsafe SanitizerAnnotation.acquire(place)
            defer { unsafe SanitizerAnnotation.release(place) }
            return try body(&value)
        }
    }

    /// The address of the mutex: it never moves, and looking at the value before the annotation would be a race to the tool.
    @inlinable
    @inline(__always)
    var place: UnsafeRawPointer {
        unsafe withUnsafePointer(to: mutex) { unsafe UnsafeRawPointer($0) }
    }
}

extension Locked: Sendable where Value: ~Copyable {}

extension Locked<Bool> {
    /// Sets it; returns whether this was the first call: for what is done once.
    package borrowing func setFirst() -> Bool {
        withLock { isSet in
            defer { isSet = true }
            return !isSet
        }
    }
}

/// Annotations for ThreadSanitizer; no-ops without it. Functions of their own, so that what is inlined elsewhere needs no
/// C module there.
@usableFromInline
enum SanitizerAnnotation {
    @usableFromInline
    static func acquire(_ place: UnsafeRawPointer) { unsafe multipeer_tsan_acquire(place) }
    @usableFromInline
    static func release(_ place: UnsafeRawPointer) { unsafe multipeer_tsan_release(place) }
    @usableFromInline
    static func ignore(_ begins: Bool) { multipeer_tsan_ignore(begins) }
}
