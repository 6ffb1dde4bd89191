public import Multipeer

extension RoomModel {
    /// Something that went wrong: an invitation, an answer, a message, a link that was lost, or discovery.
    public struct Failure: Identifiable, Sendable {
        /// A number that no other failure of the room has.
        public let id: Int
        /// The peer that it has to do with; nil when it is about the room.
        public let peer: PeerID?
        /// The reason: `code` is for the program, `description` for a log.
        public let error: MultipeerError
    }
}
