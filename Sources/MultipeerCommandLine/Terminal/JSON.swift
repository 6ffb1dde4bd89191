/// JSON for scripts: sorted keys, one trailing line break.
package enum JSON {
    package static func encode(_ value: some Encodable, isPretty: Bool = true) throws(CommandError) -> [UInt8]
    {
        let node = JSONNode()
        do { try node.encode(value) } catch { throw CommandError("cannot write JSON", exit: .system) }
        return Array("\(node.text(indent: isPretty ? 0 : nil))\n".utf8)
    }
}
