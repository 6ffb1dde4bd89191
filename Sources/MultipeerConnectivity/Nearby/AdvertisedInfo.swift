import Multipeer
import MultipeerDiscovery

/// An application's discovery info in the attributes that the protocol has for it: any dictionary of Apple's.
///
/// An entry that is a valid attribute is advertised as it is, with a `~` before a key that the protocol reserves or that has one
/// itself. All others are carried together in as many attributes as they need, `~0`, `~1` and so on: those with a key that is
/// empty, longer than 64 bytes, has other characters than printable ASCII, or differs from another one by case alone, and those of
/// more than 255 bytes. In these attributes every key and every value has its length in bytes and a colon before it.
///
/// There is room for 1,222 bytes. Entries are taken in the order of their keys, and one that no longer fits is left out.
struct AdvertisedInfo {
    let info: DiscoveryInfo
    /// The keys of the entries that are left out.
    let omitted: [String]

    init(_ entries: [String: String]) {
        var taken = Carriage()
        var omitted: [String] = []
        var info = DiscoveryInfo.empty
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            var more = taken
            more.take(key, value)
            if key.utf8.count + value.utf8.count <= DiscoveryInfo.longest,
                let fitting = try? DiscoveryInfo(validating: more.attributes)
            {
                (taken, info) = (more, fitting)
            } else {
                omitted.append(key)
            }
        }
        self.info = info
        self.omitted = omitted
    }

    /// Returns the application's entries in the attributes of another peer, which may be anything; nil for none.
    static func entries(of attributes: [String: String]) -> [String: String]? {
        var entries: [String: String] = [:]
        var carried: [(number: Int, part: String)] = []
        for (key, value) in attributes {
            if let number = Carriage.number(of: key) {
                carried.append((number, value))
            } else {
                entries[Carriage.unmarked(key)] = value
            }
        }
        let text = carried.sorted { $0.number < $1.number }.map(\.part).joined()
        for (key, value) in Carriage.read(text) where entries[key] == nil { entries[key] = value }
        return entries.isEmpty ? nil : entries
    }
}

/// The attributes of an application's entries, and those entries that have none of their own.
private struct Carriage {
    private var plain: [String: String] = [:]
    private var folded: Set<String> = []
    private var carried = ""

    private static let mark: Character = "~"
    private static let longestAttribute = 255

    mutating func take(_ key: String, _ value: String) {
        let attribute = Carriage.marked(key)
        let isPlain = (try? DiscoveryInfo(validating: [attribute: value])) != nil
        if isPlain, folded.insert(attribute.lowercased()).inserted {
            plain[attribute] = value
        } else {
            carried += "\(key.utf8.count):\(key)\(value.utf8.count):\(value)"
        }
    }

    var attributes: [String: String] {
        var attributes = plain
        for (number, part) in parts.enumerated() { attributes["\(Carriage.mark)\(number)"] = part }
        return attributes
    }

    /// What is carried, in parts that fit into an attribute each, without a divided character.
    private var parts: [String] {
        var parts: [String] = []
        var part = String.UnicodeScalarView()
        var count = 0
        for scalar in carried.unicodeScalars {
            let width = UTF8.width(scalar)
            let room = Carriage.longestAttribute - "\(Carriage.mark)\(parts.count)=".utf8.count
            if count + width > room {
                parts.append(String(part))
                (part, count) = (String.UnicodeScalarView(), 0)
            }
            part.append(scalar)
            count += width
        }
        return count == 0 ? parts : parts + [String(part)]
    }

    /// Returns what was carried, up to the first entry that is malformed.
    static func read(_ text: String) -> [(String, String)] {
        var rest = Array(text.utf8)[...]
        func next() -> String? {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard let count = Int(String(decoding: digits, as: UTF8.self)),
                rest.dropFirst(digits.count).first == UInt8(ascii: ":")
            else { return nil }
            rest = rest.dropFirst(digits.count + 1)
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return String(validating: rest.prefix(count), as: UTF8.self)
        }
        var entries: [(String, String)] = []
        while let key = next(), let value = next() { entries.append((key, value)) }
        return entries
    }

    /// Returns the number of an attribute that carries entries.
    static func number(of attribute: String) -> Int? {
        guard attribute.first == mark, attribute.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return nil
        }
        return Int(attribute.dropFirst())
    }

    static func unmarked(_ attribute: String) -> String {
        attribute.first == mark ? String(attribute.dropFirst()) : attribute
    }

    private static func marked(_ key: String) -> String {
        ["n", "mpc", "c"].contains(key.lowercased()) || key.first == mark ? "\(mark)\(key)" : key
    }
}
