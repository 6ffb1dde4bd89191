/// One DNS message as sent in a datagram. RFC 1035, 4; RFC 6762, 18; Spec 12.3.
package struct DNSMessage: Hashable, Sendable {
    package var id: UInt16 = 0
    package var isResponse = false
    package var isAuthoritative = false
    /// In a query: more known answers follow in further messages.
    package var isTruncated = false
    /// 0 to 15.
    package var opcode: UInt8 = 0
    /// 0 to 15.
    package var responseCode: UInt8 = 0
    package var questions: [DNSQuestion] = []
    package var answers: [DNSRecord] = []
    package var authorities: [DNSRecord] = []
    package var additionals: [DNSRecord] = []

    package init() {}

    /// The maximum size of a message, in bytes.
    package static let longest = 9_000  // [dns.limit]
    /// The maximum number of questions and records of a message, taken together.
    package static let mostRecords = 512  // [dns.limit]
    /// The bytes before the first question.
    package static let headCount = 12

    package var recordCount: Int { questions.count + answers.count + authorities.count + additionals.count }

    /// The second word of the header. Bits that are not used here are ignored when read, and 0 when written.
    var flags: UInt16 {
        get {
            (isResponse ? 0x8000 : 0) | UInt16(opcode & 15) << 11 | (isAuthoritative ? 0x0400 : 0)
                | (isTruncated ? 0x0200 : 0) | UInt16(responseCode & 15)
        }
        set {
            isResponse = newValue & 0x8000 != 0
            opcode = UInt8(newValue >> 11 & 15)
            isAuthoritative = newValue & 0x0400 != 0
            isTruncated = newValue & 0x0200 != 0
            responseCode = UInt8(newValue & 15)
        }
    }
}
