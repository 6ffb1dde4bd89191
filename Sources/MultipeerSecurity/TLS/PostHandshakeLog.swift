import CLibSSL

/// The TLS messages that were received after the handshake, for the C callback that libssl calls with each message.
/// The connection's owner keeps it alive.
final class PostHandshakeLog {
    private var messages: [SecureChannel.PostHandshakeMessage] = []
    /// Looked up at each read.
    private(set) var isEmpty = true

    /// Removes and returns the oldest message.
    func take() -> SecureChannel.PostHandshakeMessage? {
        if isEmpty { return nil }
        let oldest = messages.removeFirst()
        isEmpty = messages.isEmpty
        return oldest
    }

    func attach(to ssl: OpaquePointer) {
        unsafe SSL_set_msg_callback(ssl, Self.note)
        _ = unsafe SSL_ctrl(ssl, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Called with everything that is sent or received: only two kinds of messages that were received are kept.
    private static let note:
        @convention(c) (
            CInt, CInt, CInt, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?
        ) -> Void = { isSent, _, contentType, bytes, count, _, place in
            guard isSent == 0, contentType == SSL3_RT_HANDSHAKE, count > 0, let bytes = unsafe bytes,
                let place = unsafe place
            else { return }
            let message: SecureChannel.PostHandshakeMessage
            switch CInt(unsafe bytes.load(as: UInt8.self)) {
            case SSL3_MT_KEY_UPDATE: message = .keyUpdate
            case SSL3_MT_NEWSESSION_TICKET: message = .sessionTicket
            default: return
            }
            let log = unsafe Unmanaged<PostHandshakeLog>.fromOpaque(place).takeUnretainedValue()
            log.messages.append(message)
            log.isEmpty = false
        }
}
