import Foundation

/// JSON for scripts: sorted keys, one trailing line break.
enum JSON {
    static func encode(_ value: some Encodable, isPretty: Bool = true) throws(CommandError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            isPretty ? [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes] : .sortedKeys
        guard let data = try? encoder.encode(value) else {
            throw CommandError("cannot write JSON", exit: .system)
        }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
