/// The rest of a payload that follows what was written: lent instead of copied, since it fills records of its own.
package struct LentPayload: Equatable, Sendable {
    package let bytes: [UInt8]
    package let range: Range<Int>

    /// The content of a full record of TLS: what is written before a payload is lent fills whole ones.
    package static let record = 16_384
    /// The number of bytes that complete a record after `count` others.
    static func completing(_ count: Int) -> Int { (record - count % record) % record }

    /// Shorter payloads are copied: a call to libssl of its own for each would cost more.
    static let shortest = 32_768
}
