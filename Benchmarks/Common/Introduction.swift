import Glibc
package import Multipeer

/// The lines `INTRO <hex>` by which two processes exchange their connection data.
package enum Introduction {
    package static func print(_ data: ConnectionData) { print(data.bytes) }

    package static func print(_ bytes: [UInt8]) {
        Swift.print("INTRO " + bytes.map { hex($0 >> 4) + hex($0 & 15) }.joined())
        fflush(nil)
    }

    package static func read() throws -> ConnectionData { try ConnectionData(readBytes()) }

    /// Reads the other's line, and blocks until it comes: nothing is measured yet.
    package static func readBytes() throws -> [UInt8] {
        guard let line = readLine(), line.hasPrefix("INTRO ") else { throw BenchFault.noIntroduction }
        let digits = line.dropFirst(6).compactMap(\.hexDigitValue).map(UInt8.init)
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func hex(_ nibble: UInt8) -> String { String(nibble, radix: 16) }
}

package enum BenchFault: Error {
    case noIntroduction
    case endedEarly
    case wrongLength(Int)
}
