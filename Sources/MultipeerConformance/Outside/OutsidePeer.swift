/// What is known of a subject that has no shim: it accepts invitations at an address, and only the wire shows what it does.
package struct OutsidePeer: Sendable {
    /// Its uid, as it stands in its connection data.
    package let uid: [UInt8]
    /// Its name, which may be hostile.
    package let name: String
    let preference: Preference
    /// The address at which it accepts connections.
    let address: [UInt8]
    /// The address of this machine from which it is reached.
    let source: [UInt8]

    /// What `OutsideShim` gets as an option: uid, preference and both addresses.
    package var description: String {
        "\(uid.hex),\(preference.word),\(address.dotted),\(source.dotted)"
    }

    package init?(_ description: String) {
        let words = description.split(separator: ",").map(String.init)
        guard words.count == 4, let uid = [UInt8](hex: words[0]), uid.count == 16,
            let preference = Preference.allCases.first(where: { $0.word == words[1] }),
            let address = [UInt8](dotted: words[2]), let source = [UInt8](dotted: words[3])
        else { return nil }
        self.init(uid: uid, name: "", preference: preference, address: address, source: source)
    }

    init(uid: [UInt8], name: String, preference: Preference, address: [UInt8], source: [UInt8]) {
        self.uid = uid
        self.name = name
        self.preference = preference
        self.address = address
        self.source = source
    }

    /// Where a peer accepts invitations.
    package struct Address: Sendable {
        package let host: [UInt8]
        package let port: UInt16
        /// What an invitation says the link is for.
        package var context = "link"

        /// * `text`: an IPv4 address, and a port if it is not the usual one.
        package init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard (1...2).contains(parts.count), let host = [UInt8](dotted: parts[0]) else { return nil }
            guard let port = parts.count == 2 ? UInt16(parts[1]) : Address.usualPort, port > 0 else {
                return nil
            }
            self.host = host
            self.port = port
        }

        package var text: String { "\(host.dotted):\(port)" }

        /// The port of `multipeer`.
        private static let usualPort: UInt16 = 4_761
    }
}

extension [UInt8] {
    /// An IPv4 address as text.
    var dotted: String { map { "\($0)" }.joined(separator: ".") }

    init?(dotted text: String) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard numbers.count == 4, !numbers.contains(nil) else { return nil }
        self = numbers.compactMap(\.self)
    }
}
