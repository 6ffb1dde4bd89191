import MultipeerFraming

/// The channel without protection: the preface, then bytes as they are. Spec 5.5.
struct PlainEngine: ~Copyable {
    static let preface = Array("MPCPLAIN".utf8)

    var output = ByteBuffer()
    /// How many bytes of the other side's preface have been received.
    private var matched = 0
    private var failed = false

    var isEstablished: Bool { matched == Self.preface.count }

    mutating func open() { output.append(Self.preface) }  // [plain.preface]

    /// Takes the preface. It is compared byte by byte, so that another protocol is detected by its first byte.
    mutating func handshake(from input: inout ByteBuffer) throws(SecurityFault) -> Bool {
        while !failed, !isEstablished, !input.isEmpty {
            failed = input.read { $0[0] } != Self.preface[matched]
            matched += 1
            input.discard(1)
        }
        if failed { throw .peer(.notPlain) }  // [plain.preface] [enc.no-negotiation]
        return isEstablished
    }

    mutating func read(
        from input: inout ByteBuffer, into buffer: inout ByteBuffer, upTo limit: Int
    ) -> SecureChannel.ReadResult {
        let count = min(limit, input.count)
        guard isEstablished, count > 0 else { return .needsInput }
        input.read { buffer.append($0.extracting(0..<count)) }
        input.discard(count)
        return .bytes(count)
    }

    mutating func read(
        from input: inout ByteBuffer, appendingTo bytes: inout [UInt8], upTo limit: Int
    ) -> SecureChannel.ReadResult {
        let count = min(limit, input.count)
        guard isEstablished, count > 0 else { return .needsInput }
        input.read { bytes.append(copying: $0.extracting(0..<count)) }
        input.discard(count)
        return .bytes(count)
    }
}
