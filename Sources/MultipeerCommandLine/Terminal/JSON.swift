/// JSON for scripts: sorted keys, one trailing line break.
package enum JSON {
    package static func encode(_ value: some Encodable, isPretty: Bool = true) throws(CommandError) -> [UInt8]
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting =
            isPretty ? [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes] : .sortedKeys
        guard let data = try? encoder.encode(value) else {
            throw CommandError("cannot write JSON", exit: .system)
        }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
