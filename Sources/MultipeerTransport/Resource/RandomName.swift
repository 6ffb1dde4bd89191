/// An unguessable file name: 128 random bits.
package enum RandomName {
    package static func make() -> String {
        var randomness = SystemRandomness.ofKernel
        return name(randomness.next(), randomness.next())
    }

    private static func name(_ high: UInt64, _ low: UInt64) -> String {
        "multipeer-" + String(high, radix: 36) + "-" + String(low, radix: 36)
    }
}
