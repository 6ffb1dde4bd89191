import CPlatform
import Glibc

/// Random numbers of the kernel, fit for keys and tokens.
package struct SystemRandomness: RandomNumberGenerator, Sendable {
    package init() {}

    package mutating func next() -> UInt64 {
        var number: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe Self.fill($0) }
        return number
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBytes { unsafe Self.fill($0) }
        return bytes
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: rest)
            let count = unsafe getrandom(room.baseAddress, room.count, 0)
            // The one fault there can be is a kernel without the call: nothing secret can be made then.
            precondition(count > 0 || errno == EINTR, "the system gives no random numbers")
            unsafe rest = rest.dropFirst(max(count, 0))
        }
    }
}
