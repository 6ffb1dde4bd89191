/// One session object of one peer. A peer that restarts is a new endpoint, so old state cannot shadow it.
/// Spec 3.2.
public struct Endpoint: Hashable, Sendable {
    /// How many bytes an endpoint has on the wire.
    public static let byteCount = 24

    /// Whose session it is.
    public let uid: UID
    /// 8 random bytes, made with the session, read as a big-endian number.
    public let instance: UInt64

    /// The session of `uid` that made `instance`.
    @inlinable
    public init(uid: UID, instance: UInt64) {
        self.uid = uid
        self.instance = instance
    }
}
