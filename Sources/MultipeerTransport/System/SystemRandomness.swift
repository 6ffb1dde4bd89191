/// Random numbers of the kernel, fit for keys and tokens; in virtual time, those of its seed.
package struct SystemRandomness: RandomNumberGenerator, Sendable {
    /// Whether it uses the kernel in virtual time, too.
    private let isOfKernel: Bool

    package init() { isOfKernel = false }

    private init(isOfKernel: Bool) { self.isOfKernel = isOfKernel }

    /// For names that have to be unique on this machine, such as file names: two runs of one seed would choose the same.
    package static var ofKernel: SystemRandomness { SystemRandomness(isOfKernel: true) }

    private var time: VirtualTime? { isOfKernel ? nil : VirtualTime.current }

    package mutating func next() -> UInt64 {
        if let time { return time.random() }
        var number: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe SystemCalls.fill($0) }
        return number
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        if let time {
            return (0..<count).map { _ in UInt8(truncatingIfNeeded: time.random()) }
        }
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBytes { unsafe SystemCalls.fill($0) }
        return bytes
    }
}
