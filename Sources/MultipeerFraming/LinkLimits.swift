/// What one end of a link is ready to receive, as declared in its HELLO. Spec 6.2.
package struct LinkLimits: Equatable, Sendable {
    /// The maximum message length, in bytes.
    package var maxMessage: UInt64
    /// The maximum number of channels open at a time.
    package var maxChannels: UInt32
    /// The number of bytes that may arrive on a new channel before the first CREDIT.
    package var channelCredit: UInt32
    /// The credit that messages may consume before the first CREDIT.
    package var messageCredit: UInt32

    package init(maxMessage: UInt64, maxChannels: UInt32, channelCredit: UInt32, messageCredit: UInt32) {
        self.maxMessage = maxMessage
        self.maxChannels = maxChannels
        self.channelCredit = channelCredit
        self.messageCredit = messageCredit
    }

    package static let standard = LinkLimits(
        maxMessage: UInt64(Limits.maxMessage), maxChannels: UInt32(Limits.channels),
        channelCredit: UInt32(Limits.channelCredit), messageCredit: UInt32(Limits.messageCredit))
}

extension LinkLimits {
    static let byteCount = 20

    init(_ bytes: Span<UInt8>) throws(FramingError) {
        var cursor = ByteCursor()
        maxMessage = try cursor.integer(in: bytes)
        maxChannels = try cursor.integer(in: bytes)
        channelCredit = try cursor.integer(in: bytes)
        messageCredit = try cursor.integer(in: bytes)
        try cursor.finish(in: bytes)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.append(maxMessage)
        buffer.append(maxChannels)
        buffer.append(channelCredit)
        buffer.append(messageCredit)
    }
}
