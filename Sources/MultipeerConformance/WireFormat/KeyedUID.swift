import MultipeerSecurity

/// The uid that is a hash of a key. Spec 3.1.
enum KeyedUID {
    /// Returns the uid of the key in a certificate (DER); nil if it has none.
    static func of(certificate: [UInt8]) -> [UInt8]? {
        publicKeyInfo(of: certificate).map { info in
            formed(Array(SHA256.hash(Array("MPC/1 uid".utf8) + info).prefix(16)), version: 8)
        }
    }

    /// Returns the 16 bytes as a UUID of this version, and of variant 10.
    static func formed(_ bytes: [UInt8], version: UInt8) -> [UInt8] {
        var uid = bytes
        uid[6] = version << 4 | uid[6] & 0x0f
        uid[8] = 0x80 | uid[8] & 0x3f
        return uid
    }

    /// Whether a peer with this uid must have a certain key.
    static func isKeyed(_ uid: [UInt8]) -> Bool { uid.count == 16 && uid[6] >> 4 == 8 && uid[8] >> 6 == 0b10 }

    /// Whether the holder of a certificate may have this uid.
    static func fits(_ uid: [UInt8], _ certificate: [UInt8]) -> Bool {
        !isKeyed(uid) || of(certificate: certificate) == uid
    }

    /// Returns the SubjectPublicKeyInfo: in the first element of the certificate the sixth, after a version if there is one.
    /// RFC 5280, 4.1.
    private static func publicKeyInfo(of certificate: [UInt8]) -> [UInt8]? {
        guard let whole = elements(certificate[...]).first,
            let signed = elements(content(whole)).first
        else { return nil }
        let fields = elements(content(signed)).drop { $0.first == 0xa0 }
        return fields.count > 5 ? Array(fields[fields.startIndex + 5]) : nil
    }

    /// Returns the DER elements that follow each other in `bytes`, with their headers; none after one that is cut off.
    private static func elements(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var (found, rest) = ([ArraySlice<UInt8>](), bytes)
        while let (header, length) = measure(rest), rest.count >= header + length {
            found.append(rest.prefix(header + length))
            rest = rest.dropFirst(header + length)
        }
        return found
    }

    private static func content(_ element: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        element.dropFirst(measure(element)?.header ?? element.count)
    }

    private static func measure(_ bytes: ArraySlice<UInt8>) -> (header: Int, length: Int)? {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[bytes.startIndex + 1]
        guard first & 0x80 != 0 else { return (2, Int(first)) }
        let digits = bytes.dropFirst(2).prefix(Int(first & 0x7f))
        guard digits.count == Int(first & 0x7f), digits.count <= 3 else { return nil }
        return (2 + digits.count, digits.reduce(0) { $0 << 8 | Int($1) })
    }
}

extension SplitMix64 {
    /// Returns a uid that is no hash of a key.
    mutating func uid() -> [UInt8] { KeyedUID.formed(bytes(16), version: 4) }
}
