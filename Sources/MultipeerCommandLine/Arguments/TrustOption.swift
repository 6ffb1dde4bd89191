package import MultipeerEssentials

/// `--trust`: which peers to link with, besides the key that the connection data pins.
package enum TrustOption {
    package static let option = Usage.Option(
        "--trust", "WHOM", isRepeatable: true,
        "which peers to trust: pinned (default: the key in the connection data), ca:FILE (certified as the peer "
            + "it claims to be), ca-member:FILE (any certificate of the authority), fingerprint:HEX, tofu (trust on first use) "
            + "or ask; a,b accepts either, a second --trust requires both")
    package static let store = Usage.Option(
        "--trust-store", "FILE",
        "where the identities of verified peers are remembered, and with tofu of all; default: "
            + "multipeer/trust in $XDG_CONFIG_HOME, or else in ~/.config")

    /// Asks the user a question; returns whether the answer is yes.
    package typealias Asking = @Sendable (String) async -> Bool

    package static func apply(
        _ arguments: Arguments, to configuration: inout Session.Configuration, asking: @escaping Asking
    ) throws(CommandError) {
        var all: [TrustPolicy] = []
        for text in arguments.values(option.name) {
            var any: [TrustPolicy] = []
            for word in text.pieces(at: ",", keepingEmpty: true) {
                any.append(try policy(String(word), arguments, asking))
            }
            all.append(any.count == 1 ? any[0] : .any(any))
        }
        if all.isEmpty { all = [unchanged(asking)] }
        configuration.trust = all.count == 1 ? all[0] : .all(all)
        let usesFirst = words(arguments).contains("tofu")
        let writes = usesFirst || configuration.identity != nil
        configuration.trustStore = try store(arguments.value(store.name), writes: writes)
        if usesFirst { warn(of: arguments.value(store.name) ?? UserDirectory.configurationPath("trust")) }
    }

    /// Whether the user is asked about every peer, with its key.
    package static func asksAboutEveryPeer(_ arguments: Arguments) -> Bool {
        words(arguments).contains("ask")
    }

    /// Whether an authority or a fingerprint may verify a peer during the link.
    package static func mayVerify(_ arguments: Arguments) -> Bool {
        words(arguments).contains { word in
            ["ca:", "ca-member:", "fingerprint:"].contains { String(word).begins(with: $0) }
        }
    }

    private static func words(_ arguments: Arguments) -> [Substring] {
        arguments.values(option.name).flatMap { $0.pieces(at: ",") }
    }

    /// Asks about a peer that contradicts what is remembered.
    private static func unchanged(_ asking: @escaping Asking) -> TrustPolicy {
        .unchanged { await asking(warning(about: $0)) }
    }

    private static func policy(
        _ word: String, _ arguments: Arguments, _ asking: @escaping Asking
    ) throws(CommandError) -> TrustPolicy {
        let parts = word.pieces(at: ":", atMost: 2).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("pinned", nil): return .connectionData
        case ("tofu", nil): return .any([.trustOnFirstUse, unchanged(asking)])
        case ("ask", nil): return .ask { await asking(question(about: $0)) }
        case ("ca", let path?): return .certificateAuthority(try authorities(path))
        case ("ca-member", let path?): return .certificateAuthorityMember(try authorities(path))
        case ("fingerprint", let hex?):
            guard let fingerprint = Fingerprint(hex: hex) else {
                throw arguments.commandError("a fingerprint has 64 hexadecimal digits, not '\(hex)'")
            }
            return .fingerprints([fingerprint])
        default:
            throw arguments.commandError(
                "option '--trust' takes pinned, ca:FILE, ca-member:FILE, fingerprint:HEX, tofu or ask, not '\(word)'"
            )
        }
    }

    private static func authorities(_ path: String) throws(CommandError) -> [Certificate] {
        let text = String(decoding: try AtomicFile.read(path), as: UTF8.self)
        var roots: [Certificate] = []
        for block in text.parts(between: "-----BEGIN CERTIFICATE-----").dropFirst() {
            let body = block.parts(between: "-----END CERTIFICATE-----")[0]
            let certificate = Base64.decode(body).flatMap { try? Certificate(der: $0) }
            guard let certificate else {
                throw CommandError(
                    "\(path.printable): certificate \(roots.count + 1) cannot be read", exit: .badInput)
            }
            roots.append(certificate)
        }
        guard !roots.isEmpty else {
            throw CommandError(
                "\(path.printable) contains no PEM certificate",
                hint: "'openssl x509 -inform der -in FILE' prints one as PEM", exit: .badInput)
        }
        return roots
    }

    private static func store(_ given: String?, writes: Bool) throws(CommandError) -> TrustStore.File {
        let path = given ?? UserDirectory.configurationPath("trust")
        // A key that another user has written there would be trusted.
        if FileSystem.exists(path) { try AtomicFile.check(path, as: .setting) }
        do {
            // A failure shows when a peer is to be remembered.
            if given == nil, writes { _ = UserDirectory.create(UserDirectory.configuration) }
            return try TrustStore.File(path: path)
        } catch {
            throw CommandError(
                "cannot use the trust store \(path.printable): \("\(error)".printable)", exit: .system)
        }
    }

    /// Without a place to write, peers that are known already are trusted, and no other is.
    private static func warn(of path: String) {
        guard let obstacle = UserDirectory.obstacle(to: path) else { return }
        Terminal.warn(
            "only known peers are trusted: no key can be remembered in \(obstacle) "
                + "(\(store.name) names another file)")
    }

    private static let prompts = PromptQueue { question throws(CommandError) in
        // A peer could stop the process otherwise.
        try Terminal.checkForeground()
        return try Terminal.ask("\(question) [y/N] ")
    }

    private static func warning(about evidence: TrustEvidence) -> String {
        let name = evidence.name.printable
        var known = ""
        switch evidence.contact {
        case .renamed(let entry):
            known = entry.name.map { " \(name) was known as \($0.printable)." } ?? ""
        case .changed(let entry):
            // The digits that people compare are those of the id, which is another hash of the key than the fingerprint.
            let ids = [entry.peer, evidence.peer].map { String($0.bytes.hexadecimal.prefix(8)) }
            let isShown = entry.peer.isKeyed && evidence.peer.isKeyed && entry.peer != evidence.peer
            known = isShown ? " It was id \(ids[0]), and is now id \(ids[1])." : ""
            known += " Another peer may be using the name \(name)."
        case .first, .known: break
        }
        let advice = "Ask its user before you go on."
        return "WARNING: \(name): \(evidence.contradiction ?? "").\(known) \(advice) Link anyway?"
    }

    private static func question(about evidence: TrustEvidence) -> String {
        let key = evidence.fingerprint.map { "key \($0)" } ?? "no key, not encrypted"
        let holder = evidence.chain.first.map { ", identity \($0.subject.printable)" } ?? ""
        return "link with \(evidence.name.printable), \(key)\(holder)?"
    }

    /// Without a terminal in whose foreground this process is, there is no answer, and the peer is not trusted.
    package static let onTerminal: Asking = { await prompts.ask($0) }
}
