import MultipeerCommandLine
package import MultipeerEssentials

/// The labels of the peers in a room: their names where these look different, otherwise followed by digits of their ids. Everyone
/// in a room sees the same labels, whatever the order of arrival.
///
/// A name can contain anything but control characters. In a label `:`, `>`, `#` and `[` are escaped, so that a name cannot
/// look like another peer's message, like a name with digits, or like that of a verified peer. One that looks like the name of the
/// program, or begins with a star, is quoted: notes of the program begin so.
package struct PeerLabels: Sendable {
    private struct Name: Sendable {
        let stem: String
        let skeleton: NameSkeleton

        init(_ name: String) {
            stem = PeerLabels.stem(of: name)
            skeleton = NameSkeleton(name)
        }
    }

    private var names: [PeerID: Name] = [:]
    private static let shortest = 4

    package init() {}

    /// Returns the other peers whose labels have changed. A known peer may come with a new name.
    package mutating func add(_ peer: PeerID) -> [PeerID] {
        let name = Name(peer.displayName)
        guard names[peer]?.stem != name.stem else { return [] }
        let before = names.keys.filter { $0 != peer }.map { ($0, self[$0]) }
        names[peer] = name
        return before.filter { self[$0.0] != $0.1 }.map(\.0).sorted { $0.uid < $1.uid }
    }

    package mutating func remove(_ peer: PeerID) { names[peer] = nil }

    package subscript(peer: PeerID) -> String {
        let name = names[peer] ?? Name(peer.displayName)
        let others = names.filter { $0.key != peer && $0.value.skeleton.isConfusable(with: name.skeleton) }
            .keys
        guard !others.isEmpty else { return name.stem }
        let digits = peer.uid.bytes.hexadecimal
        let rivals = others.map { $0.uid.bytes.hexadecimal }
        var length = PeerLabels.shortest
        while length < digits.count, rivals.contains(where: { $0.begins(with: digits.prefix(length)) }) {
            length += 1
        }
        return "\(name.stem)#\(digits.prefix(length))"
    }

    /// Returns the peer whose label the text begins with, in upper or lower case, and the rest. Names may contain spaces: the
    /// longest label counts. No two labels differ in their case only, since such names are followed by digits.
    package func find(at text: String) -> (peer: PeerID, rest: String)? {
        let found = names.keys.map { ($0, self[$0]) }.filter { peer, label in
            text.prefix(label.count).lowercased() == label.lowercased()
                && [nil, " ", ":"].contains(text.dropFirst(label.count).first)
        }
        guard let (peer, label) = found.max(by: { $0.1.count < $1.1.count }) else { return nil }
        let rest = text.dropFirst(label.count).drop { $0 == " " || $0 == ":" }
        return (peer, String(rest))
    }

    /// Does the same at the end of the text, after a space.
    package func find(atEndOf text: String) -> (rest: String, peer: PeerID)? {
        let found = names.keys.map { ($0, self[$0]) }.filter { text.ends(with: " \($0.1)") }
        guard let (peer, label) = found.max(by: { $0.1.count < $1.1.count }) else { return nil }
        return (String(Substring(text.utf8.dropLast(label.utf8.count + 1))), peer)
    }

    private static func stem(of name: String) -> String {
        var stem = ""
        // A sign with a mark on it is another character, and looks the same.
        for scalar in name.printable.unicodeScalars {
            if isOne(of: signs, scalar) { stem += scalar.escaped } else { stem.unicodeScalars.append(scalar) }
        }
        let isStarred = stem.unicodeScalars.first.map { isOne(of: ["*"], $0) } ?? false
        let isProgram = NameSkeleton(name).isConfusable(with: NameSkeleton(Terminal.name))
        return isStarred || isProgram ? "'\(stem)'" : stem
    }

    /// The last two look like a colon, and are none in another form.
    private static let signs: Set<Unicode.Scalar> = [":", ">", "#", "[", "\u{2236}", "\u{a789}"]

    /// Returns whether it is one of the signs, or another form of one, such as that of full width.
    private static func isOne(of signs: Set<Unicode.Scalar>, _ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII || signs.contains(scalar) { return signs.contains(scalar) }
        return CompatibilityForm.decomposed(String(scalar)).unicodeScalars.contains(where: signs.contains)
    }
}
