package import MultipeerCore
import MultipeerFraming

/// The TXT record: strings of `key=value`, each preceded by its length. RFC 6763, 6; Spec 12.2.
extension Binding {
    /// Returns the data of the record: `mpc=1`, `n=<display name>`, `c=<number of the code>` if there is one, then the
    /// entries in the order of their keys.
    package static func txt(_ peer: PeerID, _ info: DiscoveryInfo) -> [UInt8] {  // [service.txt]
        var own = [(versionKey, version), (nameKey, peer.displayName)]
        if let number = info.codeNumber { own.append((codeKey, "\(number)")) }  // [code.number]
        let others = info.entries.sorted { $0.key < $1.key }
        return (own + others.map { ($0.key, $0.value) }).flatMap { key, value in
            let entry = Array(key.utf8) + [UInt8(ascii: "=")] + Array(value.utf8)
            return [UInt8(clamping: entry.count)] + entry
        }
    }

    /// Reads the record of `uid`; returns nil when it is not of this protocol: not of version 1, without a valid
    /// display name, longer than 1,300 bytes, or truncated.
    ///
    /// A string that is not `key=value` with a valid key and text is skipped; of equal keys, ignoring case, the first
    /// counts. A key without `=` has an empty value.
    package static func read(txt: [UInt8], uid: UID) -> DiscoveredPeer? {  // [service.txt]
        guard txt.count <= longestTXT, let strings = strings(in: txt) else { return nil }
        var seen: Set<String> = []
        var name: [UInt8]?
        var code: Int?
        var info: [String: String] = [:]
        for string in strings {
            let key = Array(string.prefix { $0 != UInt8(ascii: "=") })
            let value = Array(string.dropFirst(key.count + 1))
            guard DiscoveryInfo.isKey(key) else { continue }
            let text = String(decoding: key, as: UTF8.self)
            let folded = text.lowercased()
            guard seen.insert(folded).inserted else { continue }
            switch folded {
            case versionKey: guard value == Array(version.utf8) else { return nil }
            case nameKey: name = value
            case codeKey: code = InvitationCode.number(in: value)
            default: info[text] = String(validating: value, as: UTF8.self)
            }
        }
        guard seen.contains(versionKey), let name else { return nil }
        guard let display = try? DisplayName.read(name.span) else { return nil }
        guard let peer = try? PeerID(validating: uid, displayName: display) else { return nil }
        return DiscoveredPeer(peer: peer, info: info, codeNumber: code)
    }

    /// The keys that no application may use, in lower case.
    static let ownKeys: Set<String> = [versionKey, nameKey, codeKey]

    private static let versionKey = "mpc"
    private static let version = "1"
    private static let nameKey = "n"
    private static let codeKey = "c"
    /// The maximum size of a record: a longer one does not fit into one packet. RFC 6763, 6.2.
    package static let longestTXT = 1_300  // [service.txt]

    /// Splits the data into strings; returns nil when the last one is truncated.
    private static func strings(in txt: [UInt8]) -> [ArraySlice<UInt8>]? {
        var strings: [ArraySlice<UInt8>] = []
        var rest = txt[...]
        while let count = rest.popFirst() {
            guard count <= rest.count else { return nil }
            strings.append(rest.prefix(Int(count)))
            rest = rest.dropFirst(Int(count))
        }
        return strings
    }
}
