/// The events of a run, as a hash by which two runs are compared, and as text on request.
struct Trace: Sendable {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var listener: (@Sendable (String) -> Void)?

    mutating func note(_ kind: UInt64, _ one: Int, _ other: Int, at now: Int64) {
        mix(kind)
        mix(UInt64(truncatingIfNeeded: one))
        mix(UInt64(truncatingIfNeeded: other))
        mix(UInt64(truncatingIfNeeded: now))
    }

    mutating func mix(_ value: UInt64) {
        hash = (hash ^ value) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
    }

    func say(_ now: Int64, _ text: @autoclosure () -> String) {
        guard let listener else { return }
        let micros = now / 1_000
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000)
        let digits = String(1_000_000 + rest).dropFirst()
        listener("\(seconds).\(digits) \(text())")
    }
}
