import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

// The contents of the frames of an invitation.

extension ConnectionData {
    /// Reads the data of an ANSWER or a COMPLETE; returns nil when it cannot be read, or is not from `sender`, if that is
    /// known, for `receiver`. [invite.data]
    init?(_ bytes: [UInt8], of sender: UID?, for receiver: UID) {
        guard let data = try? ConnectionData(parsing: bytes),
            data.isFrom(sender ?? data.peer.uid, to: receiver)
        else { return nil }
        self = data
    }

    func isFrom(_ sender: UID, to receiver: UID) -> Bool {
        peer.uid == sender && (recipient == nil || recipient == receiver)
    }

    /// Returns whether the two preferences allow a link.
    func fits(_ other: ConnectionData) -> Bool {
        let outcome = EncryptionPreference.Outcome.between(
            preference, identity: flags.contains(.identity), and: other.preference,
            identity: other.flags.contains(.identity))
        return outcome != .refused
    }
}

extension InvitationFault {
    static let foreignData = InvitationFault.invalid(
        "the connection data is not this peer's own, or is for another peer")
}

extension Frame {
    /// The encoded frame.
    var encoded: [UInt8] {
        var buffer = ByteBuffer()
        encode(into: &buffer)
        return buffer.takeAll()
    }
}
