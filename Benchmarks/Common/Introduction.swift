import Glibc
package import Multipeer

/// The lines `INTRO <hex>` by which two processes exchange their connection data.
package enum Introduction {
    package static func print(_ data: ConnectionData) { print(data.bytes) }

    /// Writes the line in one piece: it is part of the processor time of a connection.
    package static func print(_ bytes: [UInt8]) {
        var line = Array("INTRO ".utf8)
        line.reserveCapacity(line.count + 2 * bytes.count)
        for byte in bytes {
            line.append(digits[Int(byte >> 4)])
            line.append(digits[Int(byte & 15)])
        }
        Swift.print(String(decoding: line, as: UTF8.self))
        fflush(nil)
    }

    package static func read() throws -> ConnectionData { try ConnectionData(readBytes()) }

    /// Reads the other's line, and blocks until it comes: nothing is measured yet.
    package static func readBytes() throws -> [UInt8] {
        guard let line = readLine(), line.hasPrefix("INTRO ") else { throw BenchFault.noIntroduction }
        let nibbles = line.utf8.dropFirst(6).map { $0 < UInt8(ascii: "a") ? $0 & 15 : ($0 & 15) + 9 }
        return stride(from: 0, to: nibbles.count - 1, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}

package enum BenchFault: Error {
    case noIntroduction
    case endedEarly
    case wrongLength(Int)
}
