/// What is wrong with a DNS message, received or to be sent. Spec 12.3.
package enum DNSFault: Error, Hashable, Sendable {
    /// The message has more bytes than allowed.
    case tooLong(Int)
    /// The message claims more questions and records than allowed.
    case tooManyRecords(Int)
    case truncated
    /// The two high bits of a length byte are neither a label's nor a pointer's.
    case labelType(UInt8)
    /// A pointer does not lead to a position before the labels that it continues.
    case pointer(Int)
    case tooManyPointers
    /// A label is empty, or longer than 63 bytes.
    case labelLength(Int)
    /// A name is longer than 255 bytes.
    case nameLength
    /// A record's data does not match its type.
    case data(DNSType)
}
