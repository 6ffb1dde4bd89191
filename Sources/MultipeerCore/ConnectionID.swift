/// Identifies one TCP connection of a session; never reused while the session exists.
package struct ConnectionID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (one: ConnectionID, other: ConnectionID) -> Bool { one.rawValue < other.rawValue }
}
