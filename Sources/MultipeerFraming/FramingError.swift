/// What is wrong with bytes that came from the network, as far as their form goes. Spec 2 and 7.
///
/// A *field* is one TLV; the first number of such a case is its type.
@usableFromInline
package enum FramingError: Error, Equatable, Sendable {
    /// The header promises more payload than may come now.
    case frameTooLong(Int, limit: Int)
    /// A kind below 0x80 that version 1 does not have.
    case unknownKind(UInt8)
    /// A kind that may come on another connection or at another time.
    case unexpectedKind(FrameKind)
    /// A control frame on a channel, or a channel's frame on channel 0.
    case wrongChannel(FrameKind, UInt32)
    /// A payload of a fixed size has another one.
    case wrongLength(FrameKind, Int)
    /// A value ends before all of it was read.
    case truncated
    /// Bytes are left behind the last value.
    case trailingBytes(Int)
    /// A field has a lower type than the one before it.
    case fieldOrder(UInt16, after: UInt16)
    case repeatedField(UInt16)
    /// A field says that its value is longer than what is left of its container.
    case fieldTooLong(UInt16, Int)
    /// An unknown field that may not be ignored.
    case criticalField(UInt16)
    case missingField(UInt16)
    case wrongFieldLength(UInt16, Int)
    /// The size is right but the value is not allowed.
    case wrongFieldValue(UInt16)
    /// Text that is not UTF-8, too long, or has characters that a name may not have.
    case invalidText
    case tooManyMembers(Int)

    /// What the peer is told. Spec 16.
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
