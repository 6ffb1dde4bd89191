/// The first hexadecimal digits of a uid, as users give them.
package struct UIDPrefix: Equatable, Sendable {
    private let digits: [UInt8]

    /// Returns nil unless there are 1 to 32 hexadecimal digits.
    package init?(_ text: String) {
        let digits = text.utf8.compactMap { byte in
            Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8(truncatingIfNeeded: $0) }
        }
        guard (1...2 * UID.byteCount).contains(digits.count), digits.count == text.utf8.count else {
            return nil
        }
        self.digits = digits
    }

    package func matches(_ uid: UID) -> Bool {
        uid.bytes.flatMap { [$0 >> 4, $0 & 0xF] }.starts(with: digits)
    }
}
