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
    /// The interface of both, if they are link-local.
    let zone: UInt32

    /// What `OutsideShim` gets as an option: uid, preference, both addresses and their interface.
    package var description: String {
        "\(uid.hex),\(preference.word),\(address.addressText),\(source.addressText),\(zone)"
    }

    package init?(_ description: String) {
        let words = description.split(separator: ",").map(String.init)
        guard words.count == 5, let uid = [UInt8](hex: words[0]), uid.count == 16,
            let preference = Preference.allCases.first(where: { $0.word == words[1] }),
            let address = [UInt8](addressText: words[2]), let source = [UInt8](addressText: words[3]),
            let zone = UInt32(words[4])
        else { return nil }
        self.init(
            uid: uid, name: "", preference: preference, address: address, source: source, zone: zone)
    }

    init(
        uid: [UInt8], name: String, preference: Preference, address: [UInt8], source: [UInt8], zone: UInt32
    ) {
        self.uid = uid
        self.name = name
        self.preference = preference
        self.address = address
        self.source = source
        self.zone = zone
    }

    /// Where a peer accepts invitations.
    package struct Address: Sendable {
        let place: Candidate
        /// What an invitation says the link is for.
        package var context = "link"

        /// * `text`: an address of IPv4 or IPv6, and a port if it is not the usual one; IPv6 with a port in brackets.
        package init?(_ text: String) {
            let isAlone = [UInt8](addressText: String(text.prefix { $0 != "%" })) != nil
            let host = isAlone && text.contains(":") ? "[\(text)]" : text
            let isBare = isAlone || text.hasSuffix("]")
            guard let place = Candidate(isBare ? "\(host):\(Address.usualPort)" : text), place.port > 0,
                place.zone != 0 || !place.isLinkLocal
            else { return nil }
            self.place = place
        }

        package var text: String { place.description }

        /// The port of `multipeer`.
        private static let usualPort: UInt16 = 4_761
    }
}
