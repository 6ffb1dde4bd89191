extension [UInt8] {
    /// The bytes as pairs of lower-case hexadecimal digits.
    package var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
