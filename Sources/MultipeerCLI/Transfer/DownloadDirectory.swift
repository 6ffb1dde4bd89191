package import MultipeerCommandLine
package import MultipeerEssentials

/// The directory for received files. Each gets its own name only when it is complete.
package struct DownloadDirectory: Sendable {
    package let directory: String
    /// What happens to files whose name is taken; nil for the default.
    package let existing: ExistingFiles?
    /// The directory, wherever its path leads later.
    package let opened: OpenDirectory

    /// Creates the directory if only its last component is missing. Throws when files cannot be written there.
    package init(_ directory: String, existing: ExistingFiles? = nil) throws(CommandError) {
        guard unsafe mkdir(directory, 0o777) == 0 || errno == EEXIST else {
            throw DescriptorStream.failure("cannot create the directory \(directory.printable)")
        }
        var facts = stat()
        guard unsafe stat(directory, &facts) == 0 else {
            throw DescriptorStream.failure("cannot use \(directory.printable)")
        }
        guard facts.st_mode & S_IFMT == S_IFDIR else {
            throw CommandError("\(directory.printable) is not a directory", exit: .system)
        }
        guard unsafe access(directory, W_OK | X_OK) == 0 else {
            throw DescriptorStream.failure("cannot write in \(directory.printable)")
        }
        do throws(FileFault) {
            opened = try OpenDirectory(directory)
        } catch {
            throw CommandError("cannot use \(directory.printable): \(error.reason)", exit: .system)
        }
        self.directory = directory
        self.existing = existing
    }

    package var isForced: Bool { existing == .overwrite }

    /// Returns why no file can be saved under this name; nil when one can. Symbolic links are not followed.
    package func obstacle(to name: String) -> String? {
        guard let entry = opened.entry(name) else { return nil }
        if entry.kind == .directory { return "a directory with this name exists" }
        return isForced || existing == .rename ? nil : "already exists"
    }

    /// Renames a complete file within its file system, and returns its new path: under another name if the name was taken
    /// meanwhile. An existing file keeps its name, unless files may be replaced.
    package func settle(_ draft: String, as name: String) throws(FileFault) -> String {
        let destination = FileDestination(opened, name, mayReplace: isForced)
        return path(try destination.settle(FileDestination.name(draft)))
    }

    /// Gives a received file its name before the sender is notified.
    func completion(as name: String, isSynchronized: Bool = false) -> IncomingResource.Completion {
        IncomingResource.Completion(isSynchronized: isSynchronized) { draft throws(FileFault) in
            try settle(draft, as: name)
        }
    }

    /// Returns where a file of this name is, as the user named the directory.
    func shown(_ name: String) -> String { directory == "." ? name : path(name) }

    package func path(_ name: String) -> String { directory == "/" ? "/\(name)" : "\(directory)/\(name)" }
}
