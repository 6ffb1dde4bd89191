import CPlatform

/// What the process holds of its memory, for those who look for leaks: the system counts what was given back, too.
package enum Heap {
    /// Bytes that were asked for and not given back.
    package static var allocated: Int { multipeer_allocated_bytes() }
}
