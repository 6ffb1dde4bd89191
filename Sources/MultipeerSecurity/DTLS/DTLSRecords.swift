/// DTLS records, as described by their headers:
/// `type u8 | version u16 | epoch u16 | number u48 | length u16`. RFC 6347, section 4.1.
enum DTLSRecords {
    private static let headerByteCount = 13
    private static let tagByteCount = 16
    private static let applicationData: UInt8 = 23

    /// Returns the end of the record that begins at `start`; nil when it is incomplete.
    static func end(from start: Int, in bytes: Span<UInt8>) -> Int? {
        guard start <= bytes.count - headerByteCount else { return nil }
        let length = Int(bytes[start + 11]) << 8 | Int(bytes[start + 12])
        let end = start + headerByteCount + length
        return end <= bytes.count ? end : nil
    }

    /// Returns whether a complete record can belong to the profile: epoch 0 without protection during the handshake,
    /// epoch 1 with a tag and at least one byte before it.
    ///
    /// libssl treats a protected record that is shorter than its tag as a fatal error, although it may be forged; and
    /// an empty one confuses its reader.
    static func isPlausible(_ record: Span<UInt8>, afterHandshake: Bool) -> Bool {
        guard (20...applicationData).contains(record[0]), record[1] == 0xFE, record[3] == 0 else {
            return false
        }
        return switch record[4] {
        case 0: !afterHandshake && record[0] != applicationData && record.count > headerByteCount
        case 1: record[2] == 0xFD && record.count > headerByteCount + tagByteCount
        default: false
        }
    }

    /// Splits bytes into records: each application record alone, consecutive handshake records together.
    static func cut(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while var stop = end(from: start, in: bytes) {
            if bytes[start] != applicationData {
                while let next = end(from: stop, in: bytes), bytes[stop] != applicationData,
                    next - start <= DatagramChannel.largestBody
                { stop = next }
            }
            body(bytes.extracting(start..<stop))
            start = stop
        }
    }
}
