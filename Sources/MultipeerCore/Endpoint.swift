/// One session object of one peer. A peer that restarts is a new endpoint, so old state cannot shadow it.
/// Spec 3.2.
@usableFromInline
package struct Endpoint: Hashable, Sendable {
    /// The size of an endpoint on the wire, in bytes.
    package static let byteCount = 24

    /// The peer that owns the session.
    @usableFromInline
    package let uid: UID
    /// 8 random bytes, generated with the session, read as a big-endian number.
    @usableFromInline
    package let instance: UInt64

    /// Creates the endpoint of the session of `uid` that generated `instance`.
    @inlinable
    package init(uid: UID, instance: UInt64) {
        self.uid = uid
        self.instance = instance
    }
}
