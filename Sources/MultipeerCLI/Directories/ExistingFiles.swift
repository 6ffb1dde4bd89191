import MultipeerCommandLine

/// What `multipeer receive` does with a file whose name is taken.
package enum ExistingFiles: String, CaseIterable, Sendable {
    /// What exists is kept, and the new one is not received. A directory is filled up.
    case skip
    /// What exists is kept, and the new one gets a number.
    case rename
    /// A file is replaced. A directory is kept, with what else is in it.
    case overwrite

    static let options = [
        Usage.Option(
            "--exists", "WORD", words: allCases.map(\.rawValue),
            "what to do if a name is taken: skip, rename or overwrite; default: skip a file, and give a directory a new name"
        ),
        Usage.Option("--force", short: "f", "replace existing files; the same as --exists overwrite"),
    ]

    /// Returns nil for the default.
    static func read(_ arguments: Arguments) throws(CommandError) -> ExistingFiles? {
        try arguments.exclude(["--exists", "--force"])
        if arguments.has("--force") { return .overwrite }
        return try arguments.choice("--exists", of: allCases.map(\.rawValue)) { ExistingFiles(rawValue: $0) }
    }
}
