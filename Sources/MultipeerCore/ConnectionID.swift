/// Identifies one TCP connection of a session; not reused before 2^32 others. Inlinable for `ConnectionMap`.
@usableFromInline
package struct ConnectionID: RawRepresentable, Hashable, Comparable, Sendable {
    @usableFromInline package let rawValue: UInt32

    @inlinable
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    @inlinable
    package static func < (one: ConnectionID, other: ConnectionID) -> Bool { one.rawValue < other.rawValue }
}
