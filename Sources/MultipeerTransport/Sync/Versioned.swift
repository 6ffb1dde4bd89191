public import Synchronization

/// A value under a lock, and the number of its changes: a reader that keeps what it read looks it up again only after a change.
/// Inlinable like `Locked`.
@usableFromInline
package final class Versioned<Value>: Sendable {
    @usableFromInline let value: Locked<Value>
    @usableFromInline let changes = Atomic<UInt64>(0)

    @inlinable
    package init(_ value: sending Value) { self.value = Locked(value) }

    /// Another one after each change. What is read after the version belongs to that version, or to a later one.
    @inlinable
    package var version: UInt64 { changes.load(ordering: .acquiring) }

    @inlinable
    package func read<Result: Sendable>(_ body: (Value) -> Result) -> Result { value.withLock { body($0) } }

    @inlinable
    package func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { value in
            defer { changes.wrappingAdd(1, ordering: .releasing) }
            return body(&value)
        }
    }
}
