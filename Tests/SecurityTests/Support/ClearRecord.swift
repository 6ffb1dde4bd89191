import Testing

/// One field of a handshake message that is readable without keys.
struct ClearField: CustomStringConvertible {
    let message: String
    /// The name of the field; empty for an extension.
    let name: String
    var `extension`: Int?
    let bytes: [UInt8]

    var description: String { "\(message), \(`extension`.map(String.init) ?? name), \(bytes)" }
}

/// A record of TLS or DTLS as it is readable without keys.
struct ClearRecord {
    let type: UInt8
    /// False once keys are in use: then only the type and the length can be read.
    let isClear: Bool
    let isDatagram: Bool
    let body: [UInt8]

    /// Returns the records of a stream. The type 23 hides the true one, so all others are in clear.
    static func ofTLS(_ stream: [UInt8]) throws -> [ClearRecord] {
        var records: [ClearRecord] = []
        var bytes = ClearBytes(stream)
        while !bytes.isEmpty {
            let type = try bytes.take(3)[0]
            records.append(
                ClearRecord(type: type, isClear: type != 23, isDatagram: false, body: try bytes.counted(2)))
        }
        return records
    }

    static func ofDTLS(_ datagram: [UInt8]) throws -> [ClearRecord] {
        var records: [ClearRecord] = []
        var bytes = ClearBytes(datagram)
        while !bytes.isEmpty {
            let head = try bytes.take(11)
            let isClear = head[3] == 0 && head[4] == 0
            records.append(
                ClearRecord(type: head[0], isClear: isClear, isDatagram: true, body: try bytes.counted(2)))
        }
        return records
    }

    /// Returns the fields of the record; an unknown type or message is a field without a place in any table.
    func fields() throws -> [ClearField] {
        guard isClear else { return [] }
        guard type == 22 else { return body == [1] && type == 20 ? [] : [unknown("record \(type)", body)] }
        var fields: [ClearField] = []
        var bytes = ClearBytes(body)
        while !bytes.isEmpty {
            let kind = try bytes.take(1)[0]
            let length = try bytes.number(3)
            if isDatagram { _ = try bytes.take(8) }
            fields += try message(kind, try bytes.take(length))
        }
        return fields
    }

    private func message(_ kind: UInt8, _ content: [UInt8]) throws -> [ClearField] {
        var bytes = ClearBytes(content)
        var fields: [ClearField] = []
        switch kind {
        case 1, 2: fields = try hello(isClient: kind == 1, &bytes)
        case 12:
            fields.append(ClearField("ServerKeyExchange", "identity hint", try bytes.counted(2)))
            fields.append(ClearField("ServerKeyExchange", "curve", try bytes.take(3)))
            fields.append(ClearField("ServerKeyExchange", "X25519 key", try bytes.counted(1)))
        case 14: break
        case 16:
            fields.append(ClearField("ClientKeyExchange", "PSK identity", try bytes.counted(2)))
            fields.append(ClearField("ClientKeyExchange", "X25519 key", try bytes.counted(1)))
        default: return [unknown("message \(kind)", content)]
        }
        try #require(bytes.isEmpty, "message \(kind) has more than was read")
        return fields
    }

    private func hello(isClient: Bool, _ bytes: inout ClearBytes) throws -> [ClearField] {
        let message = isClient ? "ClientHello" : "ServerHello"
        let prefix = isDatagram ? "" : "legacy_"
        var fields = [
            ClearField(message, prefix + "version", try bytes.take(2)),
            ClearField(message, "random", try bytes.take(32)),
            ClearField(message, prefix + "session_id", try bytes.counted(1)),
        ]
        if isClient {
            if isDatagram { fields.append(ClearField(message, "cookie", try bytes.counted(1))) }
            fields.append(ClearField(message, "cipher_suites", try bytes.counted(2)))
            fields.append(ClearField(message, "compression", try bytes.counted(1)))
        } else {
            fields.append(ClearField(message, "cipher_suite", try bytes.take(2)))
            fields.append(ClearField(message, "compression", try bytes.take(1)))
        }
        var extensions = ClearBytes(try bytes.counted(2))
        while !extensions.isEmpty {
            let number = try extensions.number(2)
            fields.append(ClearField(message, "", extension: number, try extensions.counted(2)))
        }
        return fields
    }

    private func unknown(_ what: String, _ bytes: [UInt8]) -> ClearField { ClearField(what, what, bytes) }
}

extension ClearField {
    fileprivate init(_ message: String, _ name: String, extension number: Int? = nil, _ bytes: [UInt8]) {
        self.init(message: message, name: name, extension: number, bytes: bytes)
    }
}

/// Bytes that are read from the front; a failed test when there are too few.
private struct ClearBytes {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func take(_ count: Int) throws -> [UInt8] {
        try #require(count <= rest.count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func number(_ count: Int) throws -> Int { try take(count).reduce(0) { $0 << 8 | Int($1) } }

    /// Reads bytes after their length.
    mutating func counted(_ size: Int) throws -> [UInt8] { try take(try number(size)) }
}
