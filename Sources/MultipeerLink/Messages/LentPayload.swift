/// The rest of a payload that follows what was written: lent instead of copied, since it fills records of its own.
package struct LentPayload: Equatable, Sendable {
    package let bytes: [UInt8]
    /// The bytes before it were written.
    package let start: Int

    /// Shorter payloads are copied: a message of its own for each would cost more.
    static let shortest = 32_768
}
