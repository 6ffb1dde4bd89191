import MultipeerFraming

extension Frame {
    /// The whole encoded frame, for a connection that is not a link yet.
    var bytes: [UInt8] {
        var buffer = ByteBuffer()
        encode(into: &buffer)
        return buffer.takeAll()
    }
}
