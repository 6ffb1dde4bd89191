import Foundation
package import Multipeer

/// The options that say how a session is made: who it is, how it protects its links and whom it trusts.
package struct SessionOptions {
    package static let name = Usage.Option(
        "--name", "NAME", "what the other side sees, at most 63 bytes; default: user@host")
    package static let id = Usage.Option(
        "--id", "FILE",
        "stay the same peer: keep the peer id in FILE, made when missing; without it every run is a new peer")
    package static let options: [Usage.Option] = [
        name, id,
        .init("--preference", "WORD", "encryption: required (default), optional or none"),
        .init("--identity", "FILE", "show this identity, PEM or PKCS#12; default: a fresh key"),
        PassphraseSource.option, TrustOption.option, TrustOption.store,
        .init(
            "--listen", "ADDRESS", isRepeatable: true,
            "listen there, as 192.0.2.1, 192.0.2.1:4000 or [::1]:4000; default: everywhere, on any port, or on 127.0.0.1 "
                + "alone when peers are sought on this machine alone"),
        .init(
            "--advertise", "ADDRESS", isRepeatable: true,
            "name this address in the own data instead of where it listens, for a forwarded port"),
        .init("--timeout", "SECONDS", "give up after so long, 1 to 600; default: 120"),
        KeyLogOption.option,
    ]

    /// Seconds.
    package static let standardPatience = 120

    package let peer: PeerID
    package let configuration: SessionConfiguration

    package init(
        _ arguments: Arguments, asking: @escaping TrustOption.Asking = TrustOption.onTerminal
    ) throws(CommandError) {
        peer = try SessionOptions.peer(arguments)
        let preference = try arguments.choice("--preference", of: ["required", "optional", "none"]) {
            EncryptionPreference(name: $0)
        }
        var configuration = SessionConfiguration(preference: preference ?? .required)
        if let path = arguments.value("--identity") {
            guard preference != EncryptionPreference.none else {
                throw arguments.commandError("'--identity' and '--preference none' exclude each other")
            }
            configuration.identity = try IdentityFile.read(path, PassphraseSource(arguments))
        }
        for text in arguments.values("--listen") {
            guard let address = SessionOptions.address(text) else {
                throw arguments.commandError("option '--listen' takes ADDRESS or ADDRESS:PORT, not '\(text)'")
            }
            configuration.listening.append(address)
        }
        if configuration.listening.isEmpty {
            configuration.listening = InterfaceSelection(arguments).listening
        }
        for text in arguments.values("--advertise") {
            guard let address = SocketAddress(text), address.port > 0 else {
                throw arguments.commandError("option '--advertise' takes ADDRESS:PORT, not '\(text)'")
            }
            configuration.advertised.append(address)
        }
        configuration.patience = .seconds(
            try arguments.number("--timeout", in: 1...600) ?? SessionOptions.standardPatience)
        configuration.keyLog = try KeyLogOption.read(arguments)
        try TrustOption.apply(arguments, to: &configuration, asking: asking)
        self.configuration = configuration
    }

    /// Somebody for a while, whom nobody gets to see.
    package static func stranger() throws(CommandError) -> PeerID {
        do throws(InvalidPeerID) {
            return try PeerID(displayName: defaultName)
        } catch {
            throw CommandError("\(error)", exit: .system)
        }
    }

    /// The peer that `--name` and `--id` mean.
    package static func peer(_ arguments: Arguments) throws(CommandError) -> PeerID {
        let name = arguments.value("--name") ?? defaultName
        let fresh: PeerID
        do throws(InvalidPeerID) {
            fresh = try PeerID(displayName: name)
        } catch {
            throw arguments.commandError("option '--name': \(error)")
        }
        guard let path = arguments.value("--id") else { return fresh }
        return try PeerFile.peer(at: path, or: fresh)
    }

    /// Whoever started us, without what a name must not have.
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
    /// The peer in the file with the name of `fresh`; `fresh` itself, written there, when there is no file.
    package static func peer(at path: String, or fresh: PeerID) throws(CommandError) -> PeerID {
        guard FileManager.default.fileExists(atPath: path) else {
            try AtomicFile.write(
                Array((Base64.encode(fresh.archived) + "\n").utf8), to: path, replacing: false)
            return fresh
        }
        let text = String(decoding: try AtomicFile.read(path, limit: 4_096), as: UTF8.self)
        guard let bytes = Base64.decode(text), let kept = try? PeerID(archived: bytes),
            let peer = try? PeerID(uid: kept.uid, displayName: fresh.displayName)
        else { throw CommandError("\(path.printable) holds no peer id", exit: .badInput) }
        return peer
    }
}
