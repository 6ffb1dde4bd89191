import MultipeerTransport

/// The kernel's messages, byte by byte, in the byte order of this machine or of another one.
enum NetlinkBytes {
    @TaskLocal static var order = ByteOrder.host

    static func link(
        _ index: UInt32, _ name: String, flags: UInt32, mtu: UInt32 = 1_500, family: UInt8 = 0,
        isGone: Bool = false
    ) -> [UInt8] {
        let info = [family, 0] + bytes(UInt16(1)) + bytes(index) + bytes(flags) + bytes(UInt32.max)
        return message(
            isGone ? 17 : 16, info + attribute(3, Array(name.utf8) + [0]) + attribute(4, bytes(mtu)))
    }

    static func address(
        _ index: UInt32, _ local: [UInt8], prefix: UInt8, flags: UInt32 = 0, peer: [UInt8]? = nil,
        isGone: Bool = false
    ) -> [UInt8] {
        let info = [local.count == 4 ? 2 : 10, prefix, UInt8(truncatingIfNeeded: flags), 0] + bytes(index)
        // IPv6 has the local attribute only where there is a peer.
        let local = local.count == 4 || peer != nil ? attribute(2, local) : attribute(1, local)
        let peer = peer.map { attribute(1, $0) } ?? []
        return message(isGone ? 21 : 20, info + peer + local + attribute(8, bytes(flags)))
    }

    static func done(isWhole: Bool = true) -> [UInt8] {
        message(3, bytes(UInt32(0)), flags: isWhole ? 2 : 0x12)
    }

    static func failed(_ code: Int32) -> [UInt8] { message(2, bytes(UInt32(bitPattern: 0 - code))) }

    static func message(_ kind: UInt16, _ body: [UInt8], flags: UInt16 = 0) -> [UInt8] {
        let head = bytes(UInt32(16 + body.count)) + bytes(kind) + bytes(flags) + bytes(UInt64(0))
        return padded(head + body)
    }

    static func attribute(_ kind: UInt16, _ value: [UInt8]) -> [UInt8] {
        padded(bytes(UInt16(4 + value.count)) + bytes(kind) + value)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        let bytes = (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> Number(8 * $0)) }
        return order == .little ? bytes : bytes.reversed()
    }
}
