public import MultipeerCore
package import MultipeerLink

extension Session {
    /// A message as it was sent, byte for byte.
    public struct Message: Sendable {
        /// The sender.
        public let peer: PeerID
        /// How the message was sent. An unreliable one may have been sent before or after the message before it.
        public let delivery: Delivery
        private let content: IncomingMessage

        package init(peer: PeerID, _ content: IncomingMessage, _ delivery: Delivery = .reliable) {
            self.peer = peer
            self.delivery = delivery
            self.content = content
        }

        /// The number of bytes.
        public var count: Int { content.range.count }

        /// The bytes, in memory that other messages may share: for the layers above, where `withBytes` is not specialised and
        /// costs several times as much.
        package var slice: ArraySlice<UInt8> { content.storage[content.range] }

        /// A copy of the bytes. Small messages share memory with those that arrived together: copying lets you keep one without
        /// keeping the others.
        public var bytes: [UInt8] { content.bytes }

        /// Calls `body` with the bytes, without a copy.
        public func withBytes<Result: ~Copyable, Failure: Error>(
            _ body: (Span<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body(content.storage.span.extracting(content.range))
        }
    }
}

extension Session.Message: CustomStringConvertible, CustomReflectable {
    /// The length and the sender, not the contents.
    public var description: String { "a message of \(count) bytes from \(peer)" }

    /// Empty: the contents of a message do not get into a log by accident.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
