/// What is wrong with a DNS message, whoever made it. Spec 12.3.
package enum DNSFault: Error, Hashable, Sendable {
    /// The message has more bytes than may be.
    case tooLong(Int)
    /// The message claims more questions and records than may be.
    case tooManyRecords(Int)
    case truncated
    /// The two high bits of a length byte are neither a label's nor a pointer's.
    case labelType(UInt8)
    /// A pointer does not lead to before the labels that it continues.
    case pointer(Int)
    case tooManyPointers
    /// A label is empty, or longer than 63 bytes.
    case labelLength(Int)
    /// A name is longer than 255 bytes.
    case nameLength
    /// A record's data is not what its type says.
    case data(DNSType)
}
