/// An error in the form of bytes received from the network. Spec 2 and 7.
///
/// A *field* is one TLV; the first number of such a case is its type.
@usableFromInline
package enum FramingError: Error, Equatable, Sendable {
    /// The header announces more payload than is allowed now.
    case frameTooLong(Int, limit: Int)
    /// A kind below 0x80 that version 1 does not define.
    case unknownKind(UInt8)
    /// A kind that is only allowed on another connection or at another time.
    case unexpectedKind(FrameKind)
    /// A control frame on a channel, or a channel's frame on channel 0.
    case wrongChannel(FrameKind, UInt32)
    /// A payload of a fixed size has a different size.
    case wrongLength(FrameKind, Int)
    /// The bytes end before the value does.
    case truncated
    /// Bytes are left after the last value.
    case trailingBytes(Int)
    /// A field has a lower type than the one before it.
    case fieldOrder(UInt16, after: UInt16)
    case repeatedField(UInt16)
    /// A field's length exceeds what is left of its container.
    case fieldTooLong(UInt16, Int)
    /// An unknown field that must not be ignored.
    case criticalField(UInt16)
    case missingField(UInt16)
    case wrongFieldLength(UInt16, Int)
    /// The size is valid but the value is not allowed.
    case wrongFieldValue(UInt16)
    /// Text that is not UTF-8, too long, or contains characters that a name must not contain.
    case invalidText
    case tooManyMembers(Int)

    /// The code that is sent to the peer. Spec 16.
    package var closeCode: CloseCode {
        switch self {
        case .tooManyMembers: .flood
        case .frameTooLong, .unknownKind, .unexpectedKind, .wrongChannel, .wrongLength, .truncated,
            .trailingBytes,
            .fieldOrder,
            .repeatedField, .fieldTooLong, .criticalField, .missingField, .wrongFieldLength, .wrongFieldValue,
            .invalidText:
            .protocolError
        }
    }
}
