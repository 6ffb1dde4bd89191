import MultipeerCommandLine
import MultipeerEssentials

/// Connection data taken apart byte by byte, as far as possible: every row has an offset, the bytes and their meaning.
///
/// It reads only the form and rejects nothing, so that damaged data can be inspected. `ConnectionData` validates it.
package struct Dissection: Equatable, Sendable {
    package private(set) var rows: [Row] = []

    package struct Row: Equatable, Sendable, Encodable {
        package let offset: Int
        package let length: Int
        package let field: String
        /// The bytes; nil for a secret that must not be shown.
        package let hex: String?
        package let meaning: String
    }

    private let bytes: [UInt8]
    private let showsSecrets: Bool
    private var position = 0

    package init(_ bytes: [UInt8], showingSecrets: Bool = false) {
        self.bytes = bytes
        showsSecrets = showingSecrets
        take(4, "magic") { $0 == Array("MPCD".utf8) ? "connection data" : "not connection data" }
        take(1, "version") { "\(Self.number($0))" }
        take(1, "flags", Self.flags)
        let stated = take(2, "length") { "\(Self.number($0)) bytes, actually \(bytes.count)" }
        let end = stated == bytes.count ? max(position, bytes.count - 8) : bytes.count
        while position + 4 <= end { takeField(before: end) }
        if stated == bytes.count { take(end - position, "rest") { _ in "too short for a field" } }
        take(bytes.count - position, stated == bytes.count ? "checksum" : "rest") { rest in
            guard stated == bytes.count else { return "not checked, the length is wrong" }
            return Self.isChecksum(rest, of: bytes) ? "SHA-256 of everything before, correct" : "wrong"
        }
    }

    /// Adds a row; returns its bytes as a number.
    @discardableResult
    private mutating func take(_ count: Int, _ field: String, _ meaning: ([UInt8]) -> String) -> Int {
        let value = Array(bytes[position..<min(bytes.count, position + max(0, count))])
        guard !value.isEmpty else { return 0 }
        let isSecret = field == "token" && !showsSecrets
        rows.append(
            Row(
                offset: position, length: value.count, field: field, hex: isSecret ? nil : value.hexadecimal,
                meaning: value.count < count ? "truncated, \(count) bytes expected" : meaning(value)))
        position += value.count
        return Self.number(value)
    }

    private mutating func takeField(before end: Int) {
        let type = UInt16(Self.number(Array(bytes[position..<position + 2])))
        let length = Self.number(Array(bytes[position + 2..<position + 4]))
        let kind = Field(rawValue: type)
        let name = kind?.name ?? "field \(Array(bytes[position..<position + 2]).hexadecimal)"
        take(4, "\(name), head") { _ in "type \(type), \(length) bytes" }
        guard length <= end - position else {
            take(end - position, name) { _ in "truncated, \(length) bytes expected" }
            return
        }
        take(length, name) { kind?.meaning($0) ?? Self.unknown(type) }
    }

    private static func unknown(_ type: UInt16) -> String {
        type & 0x8000 == 0 ? "unknown, ignored" : "unknown and critical, rejected"
    }

    private static func isChecksum(_ value: [UInt8], of bytes: [UInt8]) -> Bool {
        Array(SHA256.hash(Array(bytes.dropLast(8))).prefix(8)) == value
    }

    private static func flags(_ value: [UInt8]) -> String {
        let flags = ConnectionData.Flags(rawValue: value[0])
        let names = [
            (ConnectionData.Flags.mesh, "introduces members"), (.identity, "has an identity"),
            (.datagrams, "accepts datagrams"),
        ].filter { flags.contains($0.0) }.map(\.1)
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }

    static func number(_ bytes: [UInt8]) -> Int { bytes.prefix(7).reduce(0) { $0 << 8 | Int($1) } }

}

/// The fields of connection data. Spec 4.1.
private enum Field: UInt16 {
    case peer = 1
    case instance, preference, fingerprint, token, lifetime
    case recipient = 8
    case candidate = 0x10

    var name: String { "\(self)" }

    func meaning(_ value: [UInt8]) -> String {
        switch self {
        case .peer:
            (try? PeerID(parsingField: value)).map { "the peer named \"\($0.displayName.printable)\"" }
                ?? "not a peer id and a name"
        case .instance: value.count == 8 ? "which session of the peer" : "not 8 bytes"
        case .preference:
            value.count == 1
                ? EncryptionPreference(rawValue: value[0]).map { "encryption: \($0)" } ?? "not a preference"
                : "not 1 byte"
        case .fingerprint: fingerprint(value)
        case .token: value.count == 32 ? "secret: anyone who knows it can link" : "not 32 bytes"
        case .lifetime: value.count == 4 ? "valid for \(Dissection.number(value)) s" : "not 4 bytes"
        case .recipient: value.count == 16 ? "only for the peer with this id" : "not 16 bytes"
        case .candidate: candidate(value)
        }
    }

    private func fingerprint(_ value: [UInt8]) -> String {
        guard value.first == 1, Fingerprint(Array(value.dropFirst())) != nil else { return "not a SHA-256" }
        return "SHA-256 of the certificate that the peer will present"
    }

    private func candidate(_ value: [UInt8]) -> String {
        guard value.count > 3, let host = SocketAddress.Host(bytes: Array(value.dropFirst(3))),
            value[0] == (host.isV4 ? 4 : 6)
        else { return "not an address" }
        return "\(SocketAddress(host, port: UInt16(value[1]) << 8 | UInt16(value[2])))"
    }
}
