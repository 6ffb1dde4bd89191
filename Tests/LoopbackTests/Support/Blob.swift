import Multipeer
import MultipeerSecurity

/// Connection data in the hands of a man in the middle: parsed, changed, and rebuilt with a correct checksum.
///
/// Written from spec 4.1 alone, with no more of it than is needed to forge.
struct Blob {
    static let peer: UInt16 = 1
    static let instance: UInt16 = 2
    static let preference: UInt16 = 3
    static let fingerprint: UInt16 = 4
    static let token: UInt16 = 5
    static let lifetime: UInt16 = 6
    static let recipient: UInt16 = 8
    static let candidate: UInt16 = 0x10

    var flags: UInt8
    var fields: [(type: UInt16, value: [UInt8])] = []

    init(_ data: ConnectionData) {
        let bytes = data.bytes
        flags = bytes[5]
        var rest = bytes[8..<(bytes.count - 8)]
        while rest.count >= 4 {
            let head = Array(rest.prefix(4))
            let count = Int(head[2]) << 8 | Int(head[3])
            fields.append((UInt16(head[0]) << 8 | UInt16(head[1]), Array(rest.dropFirst(4).prefix(count))))
            rest = rest.dropFirst(4 + count)
        }
    }

    var bytes: [UInt8] {
        var body: [UInt8] = []
        for (type, value) in fields {
            body += Self.bigEndian(type)
            body += Self.bigEndian(UInt16(value.count))
            body += value
        }
        var bytes = Array("MPCD".utf8)
        bytes += [1, flags]
        bytes += Self.bigEndian(UInt16(8 + body.count + 8))
        bytes += body
        return bytes + SHA256.hash(bytes).prefix(8)
    }

    private static func bigEndian(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    subscript(type: UInt16) -> [UInt8]? {
        get { fields.first { $0.type == type }?.value }
        set {
            fields.removeAll { $0.type == type }
            guard let newValue else { return }
            fields.insert((type, newValue), at: fields.firstIndex { $0.type > type } ?? fields.endIndex)
        }
    }

    func with(_ type: UInt16, _ value: [UInt8]?) -> Blob {
        var copy = self
        copy[type] = value
        return copy
    }

    /// Returns the data with one bit of a field flipped, counted from the end of the field.
    func flipping(_ type: UInt16, byteFromEnd: Int = 0) -> Blob {
        var value = self[type] ?? []
        if value.count > byteFromEnd { value[value.count - 1 - byteFromEnd] ^= 1 }
        return with(type, value)
    }

    func flippingFlag(_ flag: UInt8) -> Blob {
        var copy = self
        copy.flags ^= flag
        return copy
    }

    /// Returns the data as if its session encrypted, with a key that no peer has.
    func encrypted(_ preference: UInt8) -> Blob {
        with(Blob.preference, [preference]).with(Blob.fingerprint, [1] + [UInt8](repeating: 9, count: 32))
    }

    /// The data as if its session wanted no encryption: no fingerprint, preference none.
    var plain: Blob { with(Blob.preference, [2]).with(Blob.fingerprint, nil) }
}
