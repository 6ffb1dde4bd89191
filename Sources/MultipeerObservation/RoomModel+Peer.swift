public import Multipeer

extension RoomModel {
    /// Another peer, as a view shows it.
    public struct Peer: Identifiable, Hashable, Sendable {
        /// What the room has to do with a peer.
        public enum State: Hashable, Sendable {
            /// It was found.
            case nearby
            /// It was found, and invited.
            case invited
            /// The link to it is being made.
            case connecting
            /// It is linked.
            case connected
        }

        /// The peer.
        public let id: PeerID
        /// Its name, which it chose itself: other peers may have the same.
        public let name: String
        /// What it advertises; empty when it was not found, or advertises nothing.
        public let info: [String: String]
        /// What the room has to do with it.
        public let state: State
        /// Whether its user wants to compare verification codes on this link. Ask your own user, and call
        /// `session.verificationCode(for:)` if they want it, too.
        public let requestsVerification: Bool
        /// How it is known who is at the other end of the link; nil before there is one. It changes when both users have confirmed a
        /// code.
        public let verification: PeerVerification?
    }
}
