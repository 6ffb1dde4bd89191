import Multipeer

/// The content to send: given bytes, or a number of bytes of an agreed pattern.
enum ShimContent {
    case bytes([UInt8])
    /// Byte i is i mod 251.
    case pattern(size: Int)

    /// The longest generated content.
    private static let longest = 1 << 30

    init(_ request: inout ShimRequest) throws(ShimFault) {
        let bytes = try request.bytes("hex")
        let size = try request.count("size")
        switch (bytes, size) {
        case (let bytes?, nil): self = .bytes(bytes)
        case (nil, let size?):
            guard size <= ShimContent.longest else { throw .invalid("size must be at most 1 GiB") }
            self = .pattern(size: size)
        default: throw .invalid("either hex or size")
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .pattern(let size): ShimContent.pattern(size)
        }
    }

    private static func pattern(_ size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + period.count)
        while bytes.count < size { bytes += period }
        bytes.removeLast(bytes.count - size)
        return bytes
    }

    private static let period: [UInt8] = Array(0..<251)
}
