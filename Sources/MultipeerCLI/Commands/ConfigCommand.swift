import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer config`: shows and changes what holds for all commands of the user.
enum ConfigCommand: Subcommand {
    private static let keys = ConfigurationFile.Key.allCases.map(\.rawValue)
    private static let unset = Usage.Option(
        "--unset", "KEY", words: keys, "remove KEY, so that its default holds")
    static let usage = Usage(
        ["config"], operands: "[KEY [VALUE]]", mostOperands: 2, words: keys,
        "show or change your name and other settings",
        examples: """
              multipeer config                    shows all settings
              multipeer config name ann           sets your name
              multipeer config --unset name
            """,
        details: """
            keys:
              name       the name that peers see; default: that of this machine
              identity   the file with the key of your peer id; default: one for each name
              directory  where 'receive' saves files; default: the current directory
              port       what is listened on; default: \(PortOption.standard), or another if it is taken

            With KEY alone, prints its value. The settings are lines of the form KEY = VALUE in the file multipeer/config in
            $XDG_CONFIG_HOME, or else in ~/.config; lines that begin with # are comments. Options of a command win over them.

            Your key is kept in the folder identities next to that file, so that others recognise you the next time. That is
            also what it reveals: in each network, everyone can see that the same peer is back while it waits to be found. With
            --anonymous a command has a new key, and the name 'anonymous'. The key belongs to the name: under another name you
            are another peer. While one command uses it, a second one has a number after the name, and a key of its own. Do not
            copy that folder to another machine: two peers with one key do not see each other. A command that sees the other one says
            so, and so does 'multipeer doctor --send'; 'multipeer identity new --force --out FILE' puts a new key into FILE.
            """,
        options: [unset], exits: [.badInput, .system])

    static func run(_ arguments: Arguments) throws(CommandError) {
        let words = arguments.operands
        let file = try ConfigurationFile.read()
        if let word = arguments.value(unset.name) {
            guard words.isEmpty else { throw arguments.commandError("--unset takes one KEY and no VALUE") }
            let key = try ConfigurationFile.key(word)
            // Nothing is written for a key that is not there.
            return file[key] == nil ? () : try file.setting(key, to: nil).write()
        }
        guard let word = words.first else { return try Terminal.put(table(file)) }
        let key = try ConfigurationFile.key(word)
        guard words.count == 2 else { return try Terminal.put("\(setting(key, file).value)\n") }
        let value = words[1].withoutSpacesAround
        try ConfigurationFile.check(value, for: key)
        try file.setting(key, to: value).write()
    }

    private static func table(_ file: ConfigurationFile) -> String {
        let rows = ConfigurationFile.Key.allCases.map { key in
            let (value, origin) = setting(key, file)
            let shown = key == .name || key == .port ? value.printable : UserDirectory.shown(value)
            return "  \(key.rawValue.padded(to: 9))  \(shown)  (\(origin))\n"
        }
        let path = setting(.identity, file).value
        let id = identity(at: path).map { "  \("peer id".padded(to: 9))  \($0)\n" } ?? ""
        return rows.joined() + id
    }

    /// Returns the value that a command without options has, and where it comes from.
    private static func setting(_ key: ConfigurationFile.Key, _ file: ConfigurationFile) -> (
        value: String, origin: String
    ) {
        if let entry = file[key] {
            let isPath = key == .identity || key == .directory
            return (
                isPath ? UserDirectory.expanded(entry.value) : entry.value,
                "\(UserDirectory.shown(file.path)), line \(entry.line)"
            )
        }
        let name = file.value(.name) ?? PeerOptions.defaultName
        switch key {
        case .name: return (name, "default: the name of this machine")
        case .identity:
            let path = KeptIdentity.path(for: name)
            let isThere = FileSystem.exists(path)
            if isThere { return (path, "default") }
            let obstacle = UserDirectory.obstacle(to: path).map { "cannot be created: \($0)" }
            return (path, "default, \(obstacle ?? "created when it is first needed")")
        case .directory: return (".", "default: the current directory")
        case .port: return ("\(PortOption.standard)", "default, or another if it is taken")
        }
    }

    /// Returns the peer id, or why the file does not show it; nil while there is none.
    private static func identity(at path: String) -> String? {
        do throws(CommandError) {
            return try KeptIdentity.uid(at: path).map { "#\($0.bytes.hexadecimal)" }
        } catch {
            return "unknown: \(error.text)"
        }
    }
}
