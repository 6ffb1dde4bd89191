/// An unguessable file name: 128 random bits.
package enum RandomName {
    package static func make() -> String {
        var randomness = SystemRandomness.ofKernel
        // Together, because each call is one of the system.
        let bytes = randomness.bytes(16)
        return name(number(bytes.prefix(8)), number(bytes.suffix(8)))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func name(_ high: UInt64, _ low: UInt64) -> String {
        "multipeer-" + String(high, radix: 36) + "-" + String(low, radix: 36)
    }
}
