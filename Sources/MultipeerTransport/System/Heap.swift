import CPlatform

/// The allocated memory of the process, for finding leaks: the system's figure includes freed memory.
package enum Heap {
    /// Bytes that were allocated and not freed.
    package static var allocated: Int { multipeer_allocated_bytes() }
}
