package import MultipeerEssentials

/// The options for a session: its identity, how it protects its links and which peers it trusts.
package struct SessionOptions {
    package static let options: [Usage.Option] = [
        PeerOptions.name, PeerOptions.anonymous, PeerOptions.id,
        .init(
            "--preference", "WORD", words: ["required", "optional", "none"],
            "encryption: required (default), optional or none"),
        .init(
            "--identity", "FILE",
            "use this identity, PEM or PKCS#12, in a file that is closed to others, and the peer id that it proves; default: "
                + "one that is kept for the name, or, without --name, that of 'multipeer config'; a second command at the same "
                + "time gets a number after the name and an identity of its own, or with --name a new peer id"
        ),
        PassphraseSource.option, TrustOption.option, TrustOption.store,
        .init(
            "--listen", "ADDRESS", isRepeatable: true,
            "listen on ADDRESS, such as 192.0.2.1 or ::1, with the port of --port or, as in 192.0.2.1:4000, the given one; "
                + "default: all addresses, or only 127.0.0.1 when only the interface lo is used"),
        PortOption.option,
        .init(
            "--advertise", "ADDRESS", isRepeatable: true,
            "put ADDRESS into your connection data instead of the listening address, for a forwarded port"),
        .init(
            "--timeout", "SECONDS",
            "give up after SECONDS, 1 to 600; default: 120, unless stated otherwise above"),
        KeyLogOption.option,
    ]

    /// In seconds.
    package static let standardTimeLimit = 120

    package let peer: PeerID
    package let configuration: Session.Configuration

    package init(
        _ arguments: Arguments, asking: @escaping TrustOption.Asking = TrustOption.onTerminal
    ) throws(CommandError) {
        let own = try PeerOptions(arguments)
        peer = own.peer
        let preference = try arguments.choice("--preference", of: ["required", "optional", "none"]) {
            EncryptionPreference(name: $0)
        }
        var configuration = Session.Configuration(encryption: preference ?? .required)
        configuration.identity = own.identity
        for text in arguments.values("--listen") {
            guard let address = SessionOptions.address(text) else {
                throw arguments.commandError("option '--listen' takes ADDRESS or ADDRESS:PORT, not '\(text)'")
            }
            configuration.listenAddresses.append(address)
        }
        let ports = configuration.listenAddresses.map(\.port).filter { $0 > 0 }
        configuration.overrides.sharedPort = try PortOption.port(arguments, listening: ports)
        if configuration.listenAddresses.isEmpty {
            configuration.listenAddresses = InterfaceSelection(arguments).listenAddresses
        }
        for text in arguments.values("--advertise") {
            guard let address = SocketAddress(text), address.port > 0 else {
                throw arguments.commandError("option '--advertise' takes ADDRESS:PORT, not '\(text)'")
            }
            configuration.advertisedAddresses.append(address)
        }
        configuration.connectTimeout = .seconds(
            try arguments.number("--timeout", in: 1...600) ?? SessionOptions.standardTimeLimit)
        configuration.keyLog = try KeyLogOption.read(arguments)
        try TrustOption.apply(arguments, to: &configuration, asking: asking)
        self.configuration = configuration
    }

    /// Returns a temporary peer that is never advertised.
    package static func temporaryPeer() throws(CommandError) -> PeerID {
        do throws(MultipeerError) {
            return try PeerID(displayName: PeerOptions.defaultName)
        } catch {
            throw CommandError("\(error)", exit: .system)
        }
    }

    /// Returns the configuration of an advertiser that shares port and addresses with the session. It listens where there is no
    /// discovery, too.
    package func sharing(_ configuration: DiscoveryConfiguration) -> DiscoveryConfiguration {
        var own = configuration
        own.sharedPort = self.configuration.overrides.sharedPort
        own.invitationAddresses = self.configuration.listenAddresses
        own.waitsForConnectivity = true
        return own
    }

    private static func address(_ text: String) -> SocketAddress? {
        if let address = SocketAddress(text) { return address }
        return SocketAddress.Host(text.inBrackets.map(String.init) ?? text).map { SocketAddress($0, port: 0) }
    }
}
