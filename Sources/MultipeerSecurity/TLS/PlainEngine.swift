import MultipeerFraming

/// The channel without protection: the preface, then bytes as they are. Spec 5.5.
struct PlainEngine: ~Copyable {
    static let preface = Array("MPCPLAIN".utf8)

    var output = ByteBuffer()
    private var input = ByteBuffer()
    /// How many bytes of the other side's preface have been received.
    private var matched = 0
    private var failed = false

    var isEstablished: Bool { matched == Self.preface.count }

    mutating func open() { output.append(Self.preface) }  // [plain.preface]

    /// Takes received bytes. The preface is compared byte by byte, so that another protocol is detected by
    /// its first byte.
    mutating func receive(_ bytes: Span<UInt8>) throws(SecurityFault) {
        var start = 0
        while !isEstablished, start < bytes.count {
            failed = failed || bytes[start] != Self.preface[matched]
            guard !failed else { throw .peer(.notPlain) }  // [plain.preface] [enc.no-negotiation]
            matched += 1
            start += 1
        }
        if start < bytes.count { input.append(bytes.extracting(start..<bytes.count)) }
    }

    mutating func read(into buffer: inout ByteBuffer, upTo limit: Int) -> SecureChannel.ReadResult {
        let count = min(limit, input.count)
        guard count > 0 else { return .needsInput }
        input.read { buffer.append($0.extracting(0..<count)) }
        input.discard(count)
        return .bytes(count)
    }
}
