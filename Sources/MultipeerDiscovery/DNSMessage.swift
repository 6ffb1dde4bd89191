/// One DNS message as it travels in a datagram. RFC 1035, 4; RFC 6762, 18; Spec 12.3.
package struct DNSMessage: Hashable, Sendable {
    package var id: UInt16 = 0
    package var isResponse = false
    package var isAuthoritative = false
    /// A query: more known answers follow in further messages.
    package var isTruncated = false
    /// 4 bits.
    package var opcode: UInt8 = 0
    /// 4 bits.
    package var responseCode: UInt8 = 0
    package var questions: [DNSQuestion] = []
    package var answers: [DNSRecord] = []
    package var authorities: [DNSRecord] = []
    package var additionals: [DNSRecord] = []

    package init() {}

    /// The most bytes that a message has, and the most questions and records together.
    package static let longest = 9_000  // [dns.limit]
    package static let mostRecords = 512  // [dns.limit]
}
