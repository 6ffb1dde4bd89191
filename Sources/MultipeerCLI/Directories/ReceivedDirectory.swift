package import MultipeerCommandLine
package import MultipeerEssentials

/// A directory of one sender, on its way into the directory for received files.
///
/// Each component of a path is opened or created in the one before, and no link is followed, whatever is there already: nothing
/// outside this directory is ever touched.
package final class ReceivedDirectory: Sendable {
    /// Counts the directories that one sender has created, in all directories that it sends.
    package final class Count: Sendable {
        private let created = Locked(0)
        private let most: Int

        package init(most: Int = ReceivedDirectory.mostCreated) { self.most = most }

        /// Throws when no other one may be created.
        fileprivate func add() throws(FileFault) {
            let isBounded = created.withLock { created in
                created += 1
                return created <= most
            }
            if !isBounded { throw FileFault(.tooLarge, path: "more than \(most) directories") }
        }
    }

    private struct State: Sendable {
        /// The directory of the file that came last: the next one is usually in the same.
        var last: (path: ArraySlice<FilePath>, directory: OpenDirectory)?
        /// The existing directories whose abandoned parts were removed, and those that were created. Each path is one text: lists of
        /// names that are the same bytes in a row have one hash, and a sender can choose 100,000 such lists.
        private var visited: Set<FilePath> = []

        /// Returns whether this path is new.
        mutating func visit(_ path: ArraySlice<FilePath>) -> Bool { visited.insert(FilePath(path)).inserted }
    }

    /// The name that the directory got.
    package let name: String
    /// Only this is held open, which all senders share.
    private let outer: OpenDirectory
    private let state = Locked(State())
    private let count: Count
    /// How many directories a sender may have created.
    package static let mostCreated = 100_000

    /// `name`: one component, as `FileName` makes it. Whatever exists, the result is a directory in `parent` and no link.
    package init(
        _ name: String, in parent: OpenDirectory, existing: ExistingFiles?, counting count: Count = Count()
    ) throws(FileFault) {
        self.count = count
        if try parent.create(name) {
            self.name = name
        } else {
            self.name = try ReceivedDirectory.taken(name, in: parent, existing)
        }
        outer = parent
        PartialFile.sweep(try parent.directory(self.name))
    }

    /// Returns the name of the existing directory, or creates one with a number.
    private static func taken(
        _ name: String, in parent: OpenDirectory, _ existing: ExistingFiles?
    ) throws(FileFault) -> String {
        if existing == .skip || existing == .overwrite { return name }
        for number in 1...999 {
            let other = FileName.numbered(name, number)
            if try parent.create(other) { return other }
        }
        throw FileFault(.other(EEXIST), path: name)
    }

    /// Returns the directory of a path's last component, with all above it created if necessary. The first component is this
    /// one.
    package func parent(of path: RelativePath) throws(FileFault) -> OpenDirectory {
        try directory(path.directory.dropFirst())
    }

    /// Creates a directory with this path, if there is none.
    package func create(_ path: RelativePath) throws(FileFault) {
        _ = try directory(path.components.dropFirst())
    }

    /// Returns what has this path; nil for nothing. Creates nothing.
    func entry(_ path: RelativePath) throws(FileFault) -> OpenDirectory.Entry? {
        try existing(path.directory.dropFirst())?.entry(path.name)
    }

    /// Opens the regular file that has this path. Creates nothing.
    func file(_ path: RelativePath) throws(FileFault) -> FileSource {
        guard let directory = try existing(path.directory.dropFirst()) else {
            throw FileFault(.notFound, path: path.text)
        }
        return try directory.file(path.name)
    }

    /// Returns a path of this directory as the sender knows it with the name that the directory got here.
    func renamed(_ path: [FilePath]) -> String { FilePath([FilePath(name)] + path.dropFirst()).text }

    private func existing(_ path: ArraySlice<FilePath>) throws(FileFault) -> OpenDirectory? {
        if let last = state.withLock({ $0.last }), last.path == path { return last.directory }
        var directory = try outer.directory(name)
        for name in path {
            guard directory.entry(name.text) != nil else { return nil }
            directory = try directory.directory(name.text)
        }
        return directory
    }

    private func directory(_ path: ArraySlice<FilePath>) throws(FileFault) -> OpenDirectory {
        try state.withLock { state throws(FileFault) in
            if let last = state.last, last.path == path { return last.directory }
            var directory = try outer.directory(name)
            for end in path.indices {
                directory = try ReceivedDirectory.descend(into: path[...end], of: directory, &state, count)
            }
            state.last = (path, directory)
            return directory
        }
    }

    private static func descend(
        into path: ArraySlice<FilePath>, of directory: OpenDirectory, _ state: inout State, _ count: Count
    ) throws(FileFault) -> OpenDirectory {
        guard let name = path.last?.text else { return directory }
        if directory.entry(name) == nil {
            try count.add()
            _ = try directory.create(name)
            let created = try directory.directory(name)
            _ = state.visit(path)
            return created
        }
        let existing = try directory.directory(name)
        // Only what exists is kept: a sender names more.
        if state.visit(path) { PartialFile.sweep(existing) }
        return existing
    }
}
