/// What the sources of one module declare, as far as the isolation map speaks of it. Read from the text as `swift format`
/// leaves it: an indentation is a level.
struct Declarations {
    enum Kind: Hashable {
        /// An actor whose executor is a loop.
        case loopActor
        case actor
        /// A class of the main actor.
        case mainActor
        /// A class that is `Sendable`.
        case shared
        /// A class that is not.
        case local
        /// Types that are declared `@unchecked Sendable`, including classes.
        case unchecked
    }

    /// Classes, actors and what is unchecked, by their names with those of the types around them.
    private(set) var objects: [String: Kind] = [:]
    /// Structures and enumerations, and those of them that are declared `Sendable`.
    private(set) var values: Set<String> = []
    private(set) var sendable: Set<String> = []
    /// Properties that are declared `nonisolated(unsafe)`, as `Type.name`.
    private(set) var unsafe: Set<String> = []
    /// The types that have a `Locked` among their properties.
    private(set) var locking: Set<String> = []
    /// Where `assumeIsolated` is called: the name of the file before any '+'.
    private(set) var assuming: Set<String> = []
    /// Lines with words that no machine has, as `path:line`.
    private(set) var effects: [String] = []

    private let sendableProtocols: Set<String>
    private var around: [(indent: Int, name: String)] = []

    init(module: String, sendableProtocols: Set<String>) throws {
        self.sendableProtocols = sendableProtocols
        for file in try Repository.files(under: "Sources/\(module)", where: { $0.hasSuffix(".swift") }) {
            around = []
            read(file)
        }
    }

    /// Returns the protocols of all modules that imply `Sendable`, and some of other libraries.
    static func sendableProtocols() throws -> Set<String> {
        let headers = try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") }).flatMap {
            file in
            let lines = file.lines
            return lines.indices.compactMap { Header(lines, at: $0) }.filter { $0.word == "protocol" }
        }
        var found: Set = ["Sendable", "Actor", "URLSessionDataDelegate"]
        while true {
            let more = headers.filter { !$0.bases.isDisjoint(with: found) }.map(\.name)
            if found.isSuperset(of: more) { return found }
            found.formUnion(more)
        }
    }

    private mutating func read(_ file: Repository.File) {
        let lines = file.lines
        for (number, line) in lines.enumerated() {
            let code = line.drop { $0 == " " }
            guard !code.isEmpty, !code.hasPrefix("//") else { continue }
            let indent = line.count - code.count
            while let last = around.last, last.indent >= indent { around.removeLast() }
            note(code, in: file, number)
            guard let header = Header(lines, at: number) else { continue }
            around.append((indent, header.name))
            note(header, around.map(\.name).joined(separator: "."))
        }
    }

    /// What an actor conforms to that is pinned to an I/O thread.
    private static let loopClients: Set = [
        "LoopClient", "ConnectionDriver", "InvitationDriver", "ListeningDriver", "LoopDiscovery",
    ]

    private mutating func note(_ header: Header, _ name: String) {
        let isSendable = !header.bases.isDisjoint(with: sendableProtocols)
        switch header.word {
        case "actor": objects[name] = header.bases.isDisjoint(with: Self.loopClients) ? .actor : .loopActor
        case _ where header.isUnchecked: objects[name] = .unchecked
        case "class": objects[name] = header.isMainActor ? .mainActor : isSendable ? .shared : .local
        case "struct", "enum":
            values.insert(name)
            if isSendable { sendable.insert(name) }
        default: if isSendable { sendable.insert(name) }
        }
    }

    private mutating func note(_ code: Substring, in file: Repository.File, _ number: Int) {
        let type = around.map(\.name).joined(separator: ".")
        if code.contains("nonisolated(unsafe)"), let match = code.firstMatch(of: /(?:let|var) (\w+)/) {
            unsafe.insert("\(type).\(match.1)")
        }
        if code.contains("let "), code.contains("Locked<") || code.contains("Locked(") {
            locking.insert(type)
        }
        if code.contains("assumeIsolated") {
            let name = file.path.split(separator: "/").last ?? ""
            assuming.insert(String(name.prefix { $0 != "+" && $0 != "." }))
        }
        if ["await ", "Task {", "Locked", "Mutex"].contains(where: code.contains) {
            effects.append("\(file.path):\(number + 1)")
        }
    }
}

/// The beginning of a declaration of a type, up to its brace.
struct Header {
    let word: String
    let name: String
    /// What it inherits from and conforms to.
    let bases: Set<String>
    let isMainActor: Bool
    let isUnchecked: Bool

    private static let words = ["actor ", "class ", "struct ", "enum ", "extension ", "protocol "]

    init?(_ lines: [Substring], at index: Int) {
        // Most lines, cheaply.
        guard Header.words.contains(where: lines[index].contains) else { return nil }
        let pattern =
            #/
            ^\s*
            (?: @\w+ (?: \([^)]*\) )? \s+ )*
            (?: (?:public|package|private|fileprivate|internal|open|final|indirect|nonisolated|distributed) \s+ )*
            (?<word> actor|class|struct|enum|extension|protocol ) \s+
            (?<name> [A-Z] [\w.]* )
            (?<rest> .* )
            /#
        guard let match = lines[index].wholeMatch(of: pattern) else { return nil }
        (word, name) = (String(match.word), String(match.name))
        var rest = match.rest
        for line in lines[(index + 1)...].prefix(6) where !rest.contains("{") { rest += " " + line }
        let clause = Header.withoutGenerics(rest.prefix { $0 != "{" }).split(separator: " where ").first ?? ""
        bases = Set(clause.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        isUnchecked = clause.contains("@unchecked Sendable")
        isMainActor =
            lines[index].contains("@MainActor") || index > 0 && lines[index - 1].hasSuffix("@MainActor")
    }

    /// Returns the text without what is between '<' and '>'.
    private static func withoutGenerics(_ text: Substring) -> String {
        var depth = 0
        return text.reduce(into: "") { plain, character in
            if character == "<" { depth += 1 }
            if depth == 0 { plain.append(character) }
            if character == ">" { depth -= 1 }
        }
    }
}
