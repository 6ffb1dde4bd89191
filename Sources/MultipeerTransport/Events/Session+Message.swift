public import MultipeerCore

extension Session {
    /// A message as it was sent, byte for byte.
    public struct Message: Sendable {
        @usableFromInline let storage: MessageStorage
        /// Its first byte in the storage, and its length: a message is at most 4 GiB long.
        @usableFromInline let start: UInt32
        @usableFromInline let length: UInt32

        @inline(__always)
        init(in storage: MessageStorage, _ range: Range<Int>) {
            self.storage = storage
            start = UInt32(truncatingIfNeeded: range.lowerBound)
            length = UInt32(truncatingIfNeeded: range.count)
        }

        package init(peer: PeerID, bytes: [UInt8], _ delivery: Delivery = .reliable) {
            self.init(in: MessageStorage(bytes, from: peer, delivery), 0..<bytes.count)
        }

        /// The sender.
        @inlinable public var peer: PeerID { storage.peer }

        /// How the message was sent. An unreliable one may have been sent before or after the message before it.
        @inlinable public var delivery: Delivery { storage.delivery }

        /// The number of bytes.
        @inlinable public var count: Int { Int(length) }

        /// The bytes, in memory that other messages may share: for the layers above, where `withBytes` is not specialised and
        /// costs several times as much.
        package var slice: ArraySlice<UInt8> { storage.bytes[range] }

        /// A copy of the bytes. Small messages share memory with those that arrived together: copying lets you keep one without
        /// keeping the others.
        public var bytes: [UInt8] {
            count == storage.bytes.count ? storage.bytes : Array(storage.bytes[range])
        }

        /// Calls `body` with the bytes, without a copy.
        @inlinable
        public func withBytes<Result: ~Copyable, Failure: Error>(
            _ body: (Span<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let bytes = storage.bytes
            return try body(bytes.span.extracting(range))
        }

        @usableFromInline var range: Range<Int> { Int(start)..<(Int(start) + Int(length)) }
    }
}

/// The memory of one message or of several small ones that arrived together, and what they have in common: a message costs
/// one reference to it.
@usableFromInline
final class MessageStorage: Sendable {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let peer: PeerID
    @usableFromInline let delivery: Session.Delivery

    init(_ bytes: [UInt8], from peer: PeerID, _ delivery: Session.Delivery) {
        self.bytes = bytes
        self.peer = peer
        self.delivery = delivery
    }
}

extension Session.Message: CustomStringConvertible, CustomReflectable {
    /// The length and the sender, not the contents.
    public var description: String { "a message of \(count) bytes from \(peer)" }

    /// Empty: the contents of a message do not get into a log by accident.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
