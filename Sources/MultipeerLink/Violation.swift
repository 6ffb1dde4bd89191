package import MultipeerFraming

/// What a peer did that an open link does not allow. Precise, so that a test can state exactly what it
/// expects.
package enum Violation: Error, Equatable, Sendable {
    /// The bytes are not a frame, or the payload is not valid for its kind.
    case framing(FramingError)
    /// A frame that belongs before SELECTED, or to an invitation.
    case outOfPlace(FrameKind)
    /// More bytes than the longest message that our HELLO allows.
    case messageTooLong(Int)
    /// A MSG_PART of this many bytes, which is too short.
    case partTooShort(Int)
    /// A message exceeded its credit by this much.
    case beyondMessageCredit(by: Int)
    /// A CREDIT that is not greater than the previous one.
    case creditDidNotGrow(UInt64)
    case tooManyControlFrames
    case tooManyEmptyFrames
    /// OPEN with a number that is not above all previous ones.
    case channelOutOfTurn(UInt32)
    /// OPEN while as many channels are open as our HELLO allows.
    case tooManyChannels(UInt32)
    /// Too many channels were opened and reset in a short time.
    case tooManyResets
    /// A frame for a channel that was never opened, or one that the channel does not allow now.
    case channelNotOpen(FrameKind, UInt32)
    /// DONE for a stream, or for a resource of which FIN was not sent.
    case doneTooEarly(UInt32)
    /// RESUME with an offset beyond SIZE, or BEGIN with one that is neither 0 nor that of RESUME.
    case badOffset(UInt64, UInt32)
    case beyondChannelCredit(UInt32)
    /// A MEMBERS that no member should have forwarded.
    case badEntry(EntryViolation)
    /// A MEMBERS whose signature is not that of its certificate's key: its sender did not verify it, or forged it.
    case badSignature
    /// Too many MEMBERS in a short time.
    case tooManyEntries
    /// Too many changes of TLS keys in a short time.
    case tooManyKeyUpdates
    /// A TLS session ticket.
    case sessionTicket
}

extension Violation {
    /// The code that is sent to the peer. Spec 16.
    package var closeCode: CloseCode {
        switch self {
        case .framing(let error): error.closeCode
        case .outOfPlace, .creditDidNotGrow, .channelOutOfTurn, .channelNotOpen, .doneTooEarly, .badOffset,
            .sessionTicket,  // [tls.no-resumption]
            .badEntry:  // [mesh.entry]
            .protocolError
        case .messageTooLong: .tooLarge
        case .badSignature: .badMAC  // [mesh.signature]
        case .beyondMessageCredit, .beyondChannelCredit, .tooManyChannels: .flow
        case .partTooShort, .tooManyControlFrames, .tooManyEmptyFrames, .tooManyResets,
            .tooManyKeyUpdates, .tooManyEntries:  // [mesh.rate-limit]
            .flood
        }
    }
}

extension Violation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .framing(let error): "malformed frame: \(error)"
        case .outOfPlace(let kind): "a frame of kind \(kind.rawValue) does not belong on an open link"
        case .messageTooLong(let count): "a message of at least \(count) bytes is too long"
        case .partTooShort(let count): "a message part of \(count) bytes is too short"
        case .beyondMessageCredit(let excess): "a message went \(excess) bytes beyond its credit"
        case .creditDidNotGrow(let limit): "credit did not grow beyond \(limit)"
        case .tooManyControlFrames: "too many control frames"
        case .tooManyEmptyFrames: "too many empty frames in a row"
        case .channelOutOfTurn(let channel): "channel \(channel) was opened out of order"
        case .tooManyChannels(let channel): "channel \(channel) is one more than may be open"
        case .tooManyResets: "too many channels were opened and reset"
        case .channelNotOpen(let kind, let channel):
            "a frame of kind \(kind.rawValue) on channel \(channel), which does not wait for it"
        case .doneTooEarly(let channel): "DONE about channel \(channel), which waits for none"
        case .badOffset(let offset, let channel): "channel \(channel) cannot begin at \(offset)"
        case .beyondChannelCredit(let channel): "data on channel \(channel) went beyond its credit"
        case .badEntry(let flaw): "a malformed entry of the mesh: \(flaw)"
        case .badSignature: "an entry of the mesh with an invalid signature"
        case .tooManyEntries: "too many entries of the mesh"
        case .tooManyKeyUpdates: "too many changes of TLS keys"
        case .sessionTicket: "a TLS session ticket"
        }
    }
}

/// What is wrong with an entry for every receiver, so that an honest member does not forward it.
package enum EntryViolation: Error, Equatable, Sendable {
    /// More than 31 endpoints, or not sorted, or with a duplicate, or with its own endpoint.
    case members
    /// The contents are not connection data; the text describes why, since they are read above this module.
    case data(String)
    /// The connection data are of another endpoint, not for the mesh or not open to every peer.
    case foreignData
    /// The certificate or the signature is missing, too large or not expected, or the certificate is not that of the connection
    /// data.
    case certificate
    /// The entry is first-hand, and its key is not the key of its link.
    case foreignKey
}

extension EntryViolation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .members: "its members are too many or out of order"
        case .data(let flaw): flaw
        case .foreignData: "its connection data are not its own data for the mesh"
        case .certificate: "its certificate is not that of its connection data"
        case .foreignKey: "its key is not the key of the link"
        }
    }
}
