public import Multipeer

extension RoomModel {
    /// A message that was received or sent.
    public struct Message: Identifiable, Sendable {
        /// A number that no other message of the room has.
        public let id: Int
        /// The sender: the local peer for a message that was sent.
        public let sender: PeerID
        /// The only recipient of a message that was sent; nil for one to all, and for one that was received.
        public let recipient: PeerID?
        /// The bytes.
        public let bytes: [UInt8]

        /// The bytes as text; nil when they are not UTF-8.
        public var text: String? { String(validating: bytes, as: UTF8.self) }
    }
}

extension RoomModel.Message: CustomStringConvertible, CustomReflectable {
    /// The length and the sender, not the contents.
    public var description: String { "a message of \(bytes.count) bytes from \(sender)" }

    /// Empty: the contents of a message do not get into a log by accident.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
