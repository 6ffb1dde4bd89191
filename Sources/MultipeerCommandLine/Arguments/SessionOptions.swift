import Foundation
package import Multipeer

/// The options for a session: its identity, how it protects its links and which peers it trusts.
package struct SessionOptions {
    package static let name = Usage.Option(
        "--name", "NAME", "the name that peers see, at most 63 bytes; default: user@host")
    package static let id = Usage.Option(
        "--id", "FILE",
        "keep the peer id in FILE, created if missing; default: a new peer id for each run")
    package static let options: [Usage.Option] = [
        name, id,
        .init("--preference", "WORD", "encryption: required (default), optional or none"),
        .init("--identity", "FILE", "use this identity, PEM or PKCS#12; default: a new key"),
        PassphraseSource.option, TrustOption.option, TrustOption.store,
        .init(
            "--listen", "ADDRESS", isRepeatable: true,
            "listen on ADDRESS, such as 192.0.2.1, 192.0.2.1:4000 or [::1]:4000; default: all addresses, any port, or only "
                + "127.0.0.1 when only the interface lo is used"),
        .init(
            "--advertise", "ADDRESS", isRepeatable: true,
            "put ADDRESS into your connection data instead of the listening address, for a forwarded port"),
        .init("--timeout", "SECONDS", "give up after SECONDS, 1 to 600; default: 120"),
        KeyLogOption.option,
    ]

    /// In seconds.
    package static let standardTimeLimit = 120

    package let peer: PeerID
    package let configuration: Session.Configuration

    package init(
        _ arguments: Arguments, asking: @escaping TrustOption.Asking = TrustOption.onTerminal
    ) throws(CommandError) {
        peer = try SessionOptions.peer(arguments)
        let preference = try arguments.choice("--preference", of: ["required", "optional", "none"]) {
            EncryptionPreference(name: $0)
        }
        var configuration = Session.Configuration(encryption: preference ?? .required)
        if let path = arguments.value("--identity") {
            guard preference != EncryptionPreference.none else {
                throw arguments.commandError("'--identity' and '--preference none' cannot be used together")
            }
            configuration.identity = try IdentityFile.read(path, PassphraseSource(arguments))
        }
        for text in arguments.values("--listen") {
            guard let address = SessionOptions.address(text) else {
                throw arguments.commandError("option '--listen' takes ADDRESS or ADDRESS:PORT, not '\(text)'")
            }
            configuration.listenAddresses.append(address)
        }
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
            return try PeerID(displayName: defaultName)
        } catch {
            throw CommandError("\(error)", exit: .system)
        }
    }

    /// Returns the peer for `--name` and `--id`.
    package static func peer(_ arguments: Arguments) throws(CommandError) -> PeerID {
        let name = arguments.value("--name") ?? defaultName
        let fresh: PeerID
        do throws(MultipeerError) {
            fresh = try PeerID(displayName: name)
        } catch {
            throw arguments.commandError("option '--name': \(error)")
        }
        guard let path = arguments.value("--id") else { return fresh }
        return try PeerFile.peer(at: path, or: fresh)
    }

    /// The user and host, without characters that a name must not have.
    private static var defaultName: String {
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        let text = "\(NSUserName())@\(host)".printable
        let name = String(decoding: Text.prefix(text, limit: 63), as: UTF8.self)
        return name.isEmpty ? "peer" : name
    }

    private static func address(_ text: String) -> SocketAddress? {
        if let address = SocketAddress(text) { return address }
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let host = isBracketed ? String(text.dropFirst().dropLast()) : text
        return SocketAddress.Host(host).map { SocketAddress($0, port: 0) }
    }
}

/// A peer id that is kept from one run to the next.
package enum PeerFile {
    /// Returns the peer in the file with the name of `fresh`; if there is no file, writes `fresh` there and returns it.
    package static func peer(at path: String, or fresh: PeerID) throws(CommandError) -> PeerID {
        guard FileManager.default.fileExists(atPath: path) else {
            try AtomicFile.write(
                Array((Base64.encode(fresh.archived) + "\n").utf8), to: path, replacing: false)
            return fresh
        }
        let text = String(decoding: try AtomicFile.read(path, limit: 4_096), as: UTF8.self)
        guard let bytes = Base64.decode(text), let kept = try? PeerID(parsing: bytes),
            let peer = try? PeerID(validating: kept.uid, displayName: fresh.displayName)
        else { throw CommandError("\(path.printable) contains no peer id", exit: .badInput) }
        return peer
    }
}
