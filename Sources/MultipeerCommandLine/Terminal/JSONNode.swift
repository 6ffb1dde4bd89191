import MultipeerEssentials

/// One value of a JSON text that is being made. RFC 8259.
final class JSONNode {
    private enum Content {
        case literal(String)
        case array([JSONNode])
        case object([String: JSONNode])
    }

    private var content = Content.literal("null")

    /// Returns the text: on one line, or on many, where the lines of a value are indented by this many steps.
    func text(indent: Int?) -> String {
        switch content {
        case .literal(let text): text
        case .array(let nodes):
            JSONNode.lines("[", nodes.map { $0.text(indent: indent.map { $0 + 1 }) }, "]", indent)
        case .object(let nodes):
            JSONNode.lines(
                "{",
                nodes.sorted { $0.key < $1.key }.map { key, node in
                    let colon = indent == nil ? ":" : " : "
                    return JSONNode.quoted(key) + colon + node.text(indent: indent.map { $0 + 1 })
                }, "}", indent)
        }
    }

    private static func lines(_ start: String, _ items: [String], _ end: String, _ indent: Int?) -> String {
        guard let indent, !items.isEmpty else { return start + items.joined(separator: ",") + end }
        let margin = String(repeating: "  ", count: indent)
        return "\(start)\n\(items.map { "\(margin)  \($0)" }.joined(separator: ",\n"))\n\(margin)\(end)"
    }

    /// A peer's text may be in it, and a terminal be what shows it.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{8}": quoted += "\\b"
            case "\u{c}": quoted += "\\f"
            case _ where scalar.isTricky:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

// MARK: from values

extension JSONNode {
    /// Makes it the value. Throws what the value throws, and for a number that JSON does not have.
    func encode(_ value: some Encodable) throws {
        switch value {
        case let text as String: content = .literal(JSONNode.quoted(text))
        case let flag as Bool: content = .literal("\(flag)")
        case let number as Double:
            guard number.isFinite else {
                throw EncodingError.invalidValue(
                    number, EncodingError.Context(codingPath: [], debugDescription: "JSON has no \(number)"))
            }
            let text = "\(number)"
            content = .literal(text.ends(with: ".0") ? String(text.dropLast(2)) : text)
        case let number as any FixedWidthInteger: content = .literal("\(number)")
        default: try value.encode(to: JSONNodeEncoder(node: self))
        }
    }

    fileprivate func encodeNil() { content = .literal("null") }

    /// Makes it an object, unless it is one.
    fileprivate func beginObject() {
        if case .object = content { return }
        content = .object([:])
    }

    /// Makes it an array, unless it is one.
    fileprivate func beginArray() {
        if case .array = content { return }
        content = .array([])
    }

    fileprivate var count: Int { if case .array(let nodes) = content { nodes.count } else { 0 } }

    fileprivate func append() -> JSONNode {
        let node = JSONNode()
        if case .array(let nodes) = content { content = .array(nodes + [node]) }
        return node
    }

    fileprivate func insert(_ key: String) -> JSONNode {
        let node = JSONNode()
        if case .object(var nodes) = content {
            nodes[key] = node
            content = .object(nodes)
        }
        return node
    }
}

// MARK: what the standard library requires of an encoder

private struct JSONNodeEncoder: Encoder {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(JSONFields(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return JSONElements(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingleValue(node: node) }
}

private struct JSONFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { node.insert(key.stringValue).encodeNil() }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try node.insert(key.stringValue).encode(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder("super") }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key.stringValue) }

    private func encoder(_ key: String) -> JSONNodeEncoder { JSONNodeEncoder(node: node.insert(key)) }
}

private struct JSONElements: UnkeyedEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    func encodeNil() { node.append().encodeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try node.append().encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        JSONNodeEncoder(node: node.append()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONNodeEncoder(node: node.append()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONNodeEncoder(node: node.append()) }
}

private struct JSONSingleValue: SingleValueEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { node.encodeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try node.encode(value) }
}
