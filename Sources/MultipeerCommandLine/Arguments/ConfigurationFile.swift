import MultipeerEssentials

/// The user's configuration: a key, `=` and a value on each line; `#` begins a line of comment. Options win over it.
package struct ConfigurationFile: Equatable, Sendable {
    package enum Key: String, CaseIterable, Sendable {
        /// The name that peers see.
        case name
        /// The file with the key of the peer id.
        case identity
        /// Where received files are saved.
        case directory
        /// What the command listens on.
        case port
    }

    /// A value and its place.
    package struct Entry: Equatable, Sendable {
        package let value: String
        /// Counted from 1.
        package let line: Int
    }

    package let path: String
    private var lines: [String]
    private var entries: [Key: Entry] = [:]

    private static let largest = 65_536

    package static var standardPath: String { UserDirectory.configurationPath("config") }

    /// Reads the user's file; one that does not exist has no entries.
    package static func read() throws(CommandError) -> ConfigurationFile {
        let path = standardPath
        guard FileSystem.exists(path) else { return try ConfigurationFile("", at: path) }
        let bytes = try AtomicFile.read(path, as: .setting, limit: largest)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(path.printable) is not UTF-8", exit: .badInput)
        }
        return try ConfigurationFile(text, at: path)
    }

    /// Throws at the first line that is not understood, and says which.
    package init(_ text: String, at path: String) throws(CommandError) {
        self.path = path
        lines = text.lines.map(String.init)
        for (index, line) in lines.enumerated() {
            let number = index + 1
            do throws(CommandError) {
                guard let (key, value) = try ConfigurationFile.setting(line) else { continue }
                if let earlier = entries[key] {
                    throw CommandError(
                        "'\(key)' is already in line \(earlier.line)", hint: "remove one of the two lines",
                        exit: .badInput)
                }
                entries[key] = Entry(value: value, line: number)
            } catch {
                throw CommandError(
                    "\(path.printable), line \(number): \(error.text)", hint: error.hint, exit: error.exit)
            }
        }
    }

    package subscript(key: Key) -> Entry? { entries[key] }

    package func value(_ key: Key) -> String? { entries[key]?.value }

    /// The file's contents.
    package var text: String { lines.map { "\($0)\n" }.joined() }

    /// Returns the file with another value for a key, or without one; everything else stays as it is.
    package func setting(_ key: Key, to value: String?) throws(CommandError) -> ConfigurationFile {
        var lines = lines
        if let value {
            let line = "\(key) = \(value)"
            if let entry = entries[key] { lines[entry.line - 1] = line } else { lines.append(line) }
        } else if let entry = entries[key] {
            lines.remove(at: entry.line - 1)
        }
        return try ConfigurationFile(lines.map { "\($0)\n" }.joined(), at: path)
    }

    /// Replaces the user's file, readable by its owner only.
    package func write() throws(CommandError) {
        if let reason = UserDirectory.create(UserDirectory.configuration) {
            throw CommandError(
                reason, hint: "the variable XDG_CONFIG_HOME can name another directory", exit: .system)
        }
        // The file itself may be a link into a folder that the user keeps elsewhere.
        try AtomicFile.write(Array(text.utf8), to: FileSystem.followed(path), replacing: true)
    }
}

// MARK: one line

extension ConfigurationFile {
    /// Returns the key with that name; throws with a suggestion if there is none.
    package static func key(_ word: String) throws(CommandError) -> Key {
        if let key = Key(rawValue: word) { return key }
        let names = Key.allCases.map(\.rawValue)
        let meant = Spelling.nearest(word, of: names).map { "did you mean '\($0)'?" }
        throw CommandError(
            "unknown key '\(word.printable)'", hint: meant ?? "the keys are \(names.joined(separator: ", "))",
            exit: .badInput)
    }

    /// Throws when a key cannot have that value.
    package static func check(_ value: String, for key: Key) throws(CommandError) {
        let problem: String?
        switch key {
        case .name:
            do throws(MultipeerError) {
                _ = try PeerID(displayName: value)
                problem = PeerOptions.misreading(of: value).map { "others would take it for \($0)" }
            } catch {
                problem = error.description
            }
        case .identity, .directory:
            let isWhole = value.begins(with: "/") || value.begins(with: "~/")
            problem = isWhole ? nil : "a path begins with / or ~/"
        case .port:
            let isPort = Int(value).map(PortOption.range.contains) == true
            problem = isPort ? nil : "a port is a number from 1024 to 65535"
        }
        let isOneLine = !value.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard let text = problem ?? (isOneLine ? nil : "a value is one line without control characters")
        else {
            return
        }
        throw CommandError("'\(key)' cannot be '\(value.printable)': \(text.printable)", exit: .badInput)
    }

    /// Returns the key and the value of a line; nil for an empty line and a comment.
    private static func setting(_ line: String) throws(CommandError) -> (Key, String)? {
        let line = line.withoutSpacesAround
        if line.isEmpty || line.begins(with: "#") { return nil }
        guard let mark = line.firstPosition(of: "=") else {
            throw CommandError(
                "'\(String(line.prefix(40)).printable)' is not KEY = VALUE",
                hint: "a line looks like: name = ann", exit: .badInput)
        }
        let key = try key(line[..<mark].withoutSpacesAround)
        let value = line[line.index(after: mark)...].withoutSpacesAround
        try check(value, for: key)
        return (key, value)
    }
}

// MARK: what commands use

extension ConfigurationFile {
    /// Where the user wants received files; nil for the current directory.
    package static var directory: String? {
        get throws(CommandError) { try read().value(.directory).map(UserDirectory.expanded) }
    }
}
