package import MultipeerEssentials

/// The local peer: `--name`, `--id`, `--identity` and `--anonymous`, or else what the user has configured. A peer with an identity
/// has a keyed uid, which others can verify.
package struct PeerOptions {
    package static let name = Usage.Option(
        "--name", short: "n", "NAME",
        "the name that peers see; at most 63 bytes; default: that of 'multipeer config', or of this machine; each name has an "
            + "identity of its own, so those who know you under another name do not recognise you")
    package static let id = Usage.Option(
        "--id", "FILE",
        "keep the peer id in FILE, created if missing, with the key that proves it; default: that of --identity, or the one that "
            + "is kept for the name; 'advertise' and 'invite' have a new one each time")
    package static let anonymous = Usage.Option(
        "--anonymous",
        "be a new peer, which no one recognises; the name is 'anonymous' unless --name is given")

    /// Where the id of this process is kept; nil for a new one.
    package static var file: String? { place.withLock(\.self) }
    private static let place = Locked<String?>(nil)

    package let peer: PeerID
    /// What the peer presents; nil for a new key in each session.
    package let identity: Identity?

    package init(_ arguments: Arguments) throws(CommandError) {
        for option in [PeerOptions.id.name, "--identity"] {
            try arguments.exclude([PeerOptions.anonymous.name, option])
        }
        let isAnonymous = arguments.has(PeerOptions.anonymous.name)
        let chosen = arguments.value(PeerOptions.name.name)
        let settings = try ConfigurationFile.read()
        let name = chosen ?? (isAnonymous ? "anonymous" : settings.value(.name)) ?? PeerOptions.defaultName
        let fresh: PeerID
        do throws(MultipeerError) {
            fresh = try PeerID(displayName: name)
        } catch {
            throw arguments.commandError("option '--name': \(error)")
        }
        if let chosen, let other = PeerOptions.misreading(of: chosen) {
            throw arguments.commandError("option '--name': others would take '\(chosen)' for \(other)")
        }
        let identity = try PeerOptions.identity(arguments)
        guard let path = arguments.value(PeerOptions.id.name) else {
            let isKept = arguments.takes(PeerOptions.anonymous.name) && !isAnonymous && identity == nil
            let kept = try isKept ? PeerOptions.kept(name, isFixed: chosen != nil, settings, arguments) : nil
            self.identity = identity ?? kept?.identity
            peer = try PeerOptions.peer(fresh, named: kept?.name, self.identity)
            let place = kept?.path ?? arguments.value("--identity")
            PeerOptions.place.withLock { $0 = place }
            return
        }
        PeerOptions.place.withLock { $0 = path }
        if let contents = try PeerOptions.contents(path) {
            (peer, self.identity) = try PeerOptions.read(
                contents, from: path, arguments, as: fresh, with: identity)
        } else {
            let own = if let identity { identity } else { try PeerOptions.newIdentity(arguments) }
            peer = try PeerOptions.peer(fresh, own)
            try PeerOptions.keep(peer, identity == nil ? own : nil, at: path)
            self.identity = own
        }
    }

    /// The name of this machine, without characters that a peer's name must not have. Everyone on the network can read it, so it does
    /// not contain the user's name.
    package static var defaultName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        let isKnown = unsafe gethostname(&bytes, bytes.count - 1) == 0
        let first = bytes.map(UInt8.init(bitPattern:)).prefix { $0 != 0 && $0 != UInt8(ascii: ".") }
        let host = isKnown ? String(decoding: first, as: UTF8.self).printable : ""
        let name = String(decoding: Text.prefix(host, limit: 63), as: UTF8.self)
        return name.isEmpty ? "peer" : name
    }

    /// Returns what others would take a name for where they give it to a command, such as "a code": no one could send to a peer of that
    /// name by it. Nil for what they take for a name.
    package static func misreading(of name: String) -> String? {
        if isCode(name) { return "a code" }
        let place = name.lastPosition(of: "@").map { String(name[name.index(after: $0)...]) } ?? name
        let host = place.inBrackets.map(String.init) ?? place
        if SocketAddress(place) != nil || SocketAddress.Host(host) != nil { return "an address" }
        let digits = name.lastPosition(of: "#").map { name[name.index(after: $0)...] } ?? ""
        let isID = (4...32).contains(digits.count) && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        return isID ? "a name with digits of an id" : nil
    }

    private static func isCode(_ name: String) -> Bool {
        do throws(MultipeerError) { _ = try InvitationCode(name) } catch { return false }
        return true
    }
}

// MARK: the key

extension PeerOptions {
    private static func isPlain(_ arguments: Arguments) -> Bool {
        arguments.value("--preference") == "\(EncryptionPreference.none)"
    }

    private static func identity(_ arguments: Arguments) throws(CommandError) -> Identity? {
        guard let path = arguments.value("--identity") else { return nil }
        guard !isPlain(arguments) else {
            throw arguments.commandError("'--identity' and '--preference none' cannot be used together")
        }
        return try IdentityFile.read(path, PassphraseSource(arguments))
    }

    /// Returns the key to keep with a new id; nil for a peer that does not encrypt, and so proves nothing.
    private static func newIdentity(_ arguments: Arguments) throws(CommandError) -> Identity? {
        guard !isPlain(arguments) else { return nil }
        return try CommandError.translating { () throws(MultipeerError) in try Identity.generate() }
    }

    private static func peer(
        _ fresh: PeerID, named name: String? = nil, _ identity: Identity?
    ) throws(CommandError) -> PeerID {
        guard let identity else { return fresh }
        return try CommandError.translating { () throws(MultipeerError) in
            try PeerID(displayName: name ?? fresh.displayName, identity: identity)
        }
    }

    /// Returns the key that the user keeps under this name; nil for a peer that does not encrypt, and so proves nothing, and where
    /// none can be had.
    private static func kept(
        _ name: String, isFixed: Bool, _ settings: ConfigurationFile, _ arguments: Arguments
    ) throws(CommandError) -> KeptIdentity? {
        guard !isPlain(arguments) else { return nil }
        // The key is of the user's usual name: others would warn of another name with it.
        let file = arguments.has("--name") ? nil : settings.value(.identity).map(UserDirectory.expanded)
        switch try KeptIdentity.take(name, from: file, isFixed: isFixed, PassphraseSource(arguments)) {
        case .taken(let kept):
            if kept.isNew, isFixed, !arguments.has("--quiet") { noteIdentity(name, settings) }
            return kept
        case .busy:
            if !arguments.has("--quiet") {
                Terminal.say("another command runs as '\(name.printable)': this one has a new peer id")
            }
        case .homeless(let reason):
            if arguments.has("--verbose") {
                Terminal.say(
                    "no identity can be kept in \(UserDirectory.shown(KeptIdentity.directory)): \(reason)")
            }
        }
        return nil
    }

    /// Says that `--name` has made a new identity, where the user has one under the usual name.
    private static func noteIdentity(_ name: String, _ settings: ConfigurationFile) {
        let usual = settings.value(.name) ?? defaultName
        guard name != usual, FileSystem.exists(KeptIdentity.standardPath(settings)) else { return }
        Terminal.say(
            "'\(name.printable)' has a new identity: peers that know you as '\(usual.printable)' do not recognise it; "
                + "without --name you are '\(usual.printable)'")
    }
}

// MARK: the file

extension PeerOptions {
    private static let largestFile = 65_536

    private static func contents(_ path: String) throws(CommandError) -> [UInt8]? {
        guard FileSystem.exists(path) else { return nil }
        return try AtomicFile.read(path, as: .present, limit: largestFile)
    }

    /// Writes the key of a new id, or the id alone if the key is in a file of its own.
    private static func keep(_ peer: PeerID, _ identity: Identity?, at path: String) throws(CommandError) {
        let contents = try CommandError.translating { () throws(MultipeerError) in
            try identity.map { identity throws(MultipeerError) in try identity.pem() }
        }
        try AtomicFile.write(
            contents ?? Array((Base64.encode(peer.archived) + "\n").utf8), to: path, replacing: false)
    }

    /// Reads a key, or an archived id: of `identity`, or random, as they were before ids had keys.
    private static func read(
        _ contents: [UInt8], from path: String, _ arguments: Arguments, as fresh: PeerID,
        with identity: Identity?
    ) throws(CommandError) -> (PeerID, Identity?) {
        let text = String(decoding: contents, as: UTF8.self)
        if text.hasPart("-----BEGIN ") {
            guard identity == nil else {
                throw arguments.commandError("'--id' and '--identity' name two keys")
            }
            guard !isPlain(arguments) else {
                throw arguments.commandError(
                    "'--id' of a peer with a key and '--preference none' cannot be used together")
            }
            let own = try IdentityFile.read(path, PassphraseSource(arguments), as: .keptKey)
            return (try peer(fresh, own), own)
        }
        guard let bytes = Base64.decode(text), let kept = try? PeerID(archived: bytes),
            let peer = try? PeerID(uid: kept.uid, displayName: fresh.displayName)
        else {
            throw CommandError(
                "\(path.printable) contains no peer id",
                hint: "name a file that --id has created, or a new one", exit: .badInput)
        }
        return (peer, identity)
    }
}
