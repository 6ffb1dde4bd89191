import MultipeerFraming

extension Frame {
    /// The whole frame, for a connection that is no link yet.
    var bytes: [UInt8] {
        var buffer = ByteBuffer()
        encode(into: &buffer)
        return buffer.takeAll()
    }
}
