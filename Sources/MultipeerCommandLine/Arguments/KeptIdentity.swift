package import MultipeerEssentials

/// The key that a user has under a name, so that others find the same peer tomorrow. Each name has its own: with one key for all,
/// a peer that remembers it would warn of another name.
///
/// One command at a time uses a key, since peers with one id do not see each other. It holds a lock, which the system releases
/// when the process ends.
package struct KeptIdentity: Sendable {
    package let name: String
    package let identity: Identity
    package let path: String
    /// Whether it was made just now.
    package let isNew: Bool

    /// What became of the request for a key.
    package enum Outcome: Sendable {
        case taken(KeptIdentity)
        /// Other commands use it.
        case busy
        /// It is missing and cannot be written, for this reason.
        case homeless(String)
    }

    /// More names are those of a script, and it does not need the keys.
    private static let most = 64
    private static let mostCommands = 9
    private static let locks = Locked<[Int32]>([])

    package static var directory: String { UserDirectory.configurationPath("identities") }

    /// Returns the file of the key under a name.
    package static func path(for name: String) -> String {
        let plain = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
        let file = name.utf8.map { byte in
            plain.contains(byte)
                ? String(decoding: [byte], as: UTF8.self) : "%" + [byte].hexadecimal
        }
        return "\(directory)/\(file.joined()).pem"
    }

    /// Returns the file of the key of a command without options.
    package static func standardPath(_ settings: ConfigurationFile) -> String {
        settings.value(.identity).map(UserDirectory.expanded)
            ?? path(for: settings.value(.name) ?? PeerOptions.defaultName)
    }

    /// Returns the id that the key in a file proves, without asking for a passphrase; nil while there is no file.
    package static func uid(at path: String) throws(CommandError) -> UID? {
        guard FileSystem.exists(path) else { return nil }
        let bytes = try AtomicFile.read(path, as: .keptKey)
        return try IdentityFile.explain { () throws(SecurityFault) in
            try Identity(parsing: bytes, passphrase: nil).uid
        }
    }

    /// Takes the key of the peer with this name, created if it is missing. `file`: the one that the user has chosen for it.
    /// `isFixed`: otherwise, while another command of the user has the name, this one takes the name with a number.
    package static func take(
        _ name: String, from file: String?, isFixed: Bool, _ passphrase: PassphraseSource
    ) throws(CommandError) -> Outcome {
        for number in 1...(isFixed ? 1 : mostCommands) {
            let numbered = number == 1 ? name : KeptIdentity.name(name, number)
            let path = number == 1 ? file ?? path(for: numbered) : path(for: numbered)
            let isNew = !FileSystem.exists(path)
            if let obstacle = try create(path, isChosen: number == 1 && file != nil) {
                return .homeless(obstacle)
            }
            // What another user could open, that user could lock.
            try AtomicFile.check(path, as: .keptKey)
            guard lock(path) else { continue }
            let identity = try IdentityFile.read(path, passphrase, as: .keptKey)
            return .taken(KeptIdentity(name: numbered, identity: identity, path: path, isNew: isNew))
        }
        return .busy
    }

    private static func name(_ name: String, _ number: Int) -> String {
        let end = "-\(number)"
        return String(decoding: Text.prefix(name, limit: 63 - end.utf8.count), as: UTF8.self) + end
    }

    /// Creates the file if it is missing; returns why it is not there then, nil if it is. Of two commands that create it, one has its
    /// key in the file.
    private static func create(_ path: String, isChosen: Bool) throws(CommandError) -> String? {
        if FileSystem.exists(path) { return nil }
        if !isChosen {
            if let obstacle = UserDirectory.create(directory) { return obstacle }
            guard let files = FileSystem.names(in: directory) else {
                return "\(UserDirectory.shown(directory)) cannot be read"
            }
            guard files.count < most else {
                return "\(UserDirectory.shown(directory)) has the keys of \(files.count) names already"
            }
        }
        let pem = try CommandError.translating { () throws(MultipeerError) in
            try Identity.generate().pem()
        }
        do throws(CommandError) {
            try AtomicFile.write(pem, to: path, replacing: false)
        } catch {
            if FileSystem.exists(path) { return nil }
            if isChosen { throw error }
            return error.text
        }
        return nil
    }

    /// Returns whether no other command has the key. Where files cannot be locked, none does.
    private static func lock(_ path: String) -> Bool {
        let descriptor = Descriptors.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return true }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            return false
        }
        locks.withLock { $0.append(descriptor) }
        return true
    }
}
