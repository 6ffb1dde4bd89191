/// What one end of a link is ready to receive, as its HELLO says. Spec 6.2.
package struct LinkLimits: Equatable, Sendable {
    /// Bytes of the longest message.
    package var maxMessage: UInt64
    /// Channels open at a time.
    package var maxChannels: UInt32
    /// Bytes that may come on a new channel before the first CREDIT.
    package var channelCredit: UInt32
    /// What messages may spend before the first CREDIT.
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
