import MultipeerCommandLine
import MultipeerEssentials

/// What Tab adds to a path: the names in the directory that was typed so far. Reads the disk.
struct PathCompletion {
    /// What relative paths begin at.
    let folder: String

    /// Returns the names that may stand in place of the last component of the path, those of directories with a slash; nil for none.
    /// Names that begin with a dot are completed after a dot only.
    func choices(for path: String) -> LineCompletion.Choices? {
        if path == "~" { return LineCompletion.Choices(length: 1, words: ["~/"], isExact: true) }
        let (above, typed) = (FilePath(path).directory, FilePath(path).last)
        let place = absolute(String(above))
        guard let entries = try? OpenDirectory(place).entries() else { return nil }
        let words = entries.filter { entry in
            entry.kind != .unnamed && entry.name.begins(with: typed)
                && (typed.begins(with: ".") || !entry.name.begins(with: "."))
        }.map { isDirectory($0, in: place) ? "\($0.name)/" : $0.name }
        return words.isEmpty ? nil : LineCompletion.Choices(length: typed.count, words: words, isExact: true)
    }

    /// Whether there is a file or directory at the path.
    func isThere(_ path: String) -> Bool { FileSystem.exists(absolute(path)) }

    private func absolute(_ path: String) -> String {
        let path = UserDirectory.expanded(path)
        if path.isEmpty { return folder }
        return FilePath(path).isAbsolute ? path : "\(folder)/\(path)"
    }

    /// A link to a directory counts: the user has it there.
    private func isDirectory(_ entry: OpenDirectory.Entry, in place: String) -> Bool {
        entry.kind == .directory
            || entry.kind == .link && (try? OpenDirectory("\(place)/\(entry.name)")) != nil
    }
}
