import Foundation

/// What `Spec/privacy.json` allows to be in clear.
struct PrivacyTable: Decodable {
    struct Channel: Decodable {
        struct Field: Decodable {
            let message: String
            let field: String
            let `extension`: Int?
            let bytes: Int?
            let sizes: [Int]?
            let value: String?
            let values: [String]?
        }

        /// The name in ALPN, by what the connection is for.
        let alpn: [String: String]?
        let fields: [Field]
    }

    let tls: Channel
    let datagrams: Channel

    init() throws {
        let spec = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Spec/privacy.json")
        self = try JSONDecoder().decode(PrivacyTable.self, from: try Data(contentsOf: spec))
    }
}

extension PrivacyTable.Channel {
    /// Whether the table has this field, of this size and with this value.
    func lists(_ seen: ClearField, alpn name: String?) -> Bool {
        fields.contains { row in
            guard row.message == seen.message, row.extension == seen.extension else { return false }
            guard seen.extension != nil || row.field == seen.name else { return false }
            let sizes = row.sizes ?? row.bytes.map { [$0] }
            guard sizes?.contains(seen.bytes.count) ?? true else { return false }
            if row.field == "ALPN" {
                let text = Array((name ?? "").utf8)
                return seen.bytes == [0, UInt8(text.count + 1), UInt8(text.count)] + text
            }
            guard let values = row.values ?? row.value.map({ [$0] }) else { return true }
            return values.contains(seen.bytes.map { String(format: "%02x", $0) }.joined())
        }
    }
}
