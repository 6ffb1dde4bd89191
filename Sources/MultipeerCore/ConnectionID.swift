/// Identifies one TCP connection of a session; not reused before 2^32 others.
package struct ConnectionID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (one: ConnectionID, other: ConnectionID) -> Bool { one.rawValue < other.rawValue }
}
