import Foundation
package import Multipeer
package import MultipeerCommandLine

/// The directory for received files. Each gets its own name only when it is complete.
package struct DownloadDirectory: Sendable {
    package let directory: String
    /// Whether existing files may be replaced.
    package let isForced: Bool
    /// If a name is taken at the last moment, a number up to this one is added.
    private static let mostNumbers = 999

    /// Creates the directory if only its last component is missing. Throws when files cannot be written there.
    package init(_ directory: String, isForced: Bool) throws(CommandError) {
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
        self.directory = directory
        self.isForced = isForced
    }

    /// Returns why no file can be saved under this name; nil when one can. Symbolic links are not followed.
    package func obstacle(to name: String) -> String? {
        var facts = stat()
        guard unsafe lstat(path(name), &facts) == 0 else { return nil }
        if facts.st_mode & S_IFMT == S_IFDIR { return "a directory with this name exists" }
        return isForced ? nil : "already exists"
    }

    /// Renames a complete file within its file system, and returns its new path: under another name if the name was taken
    /// meanwhile. An existing file keeps its name, unless files may be replaced.
    package func settle(_ draft: String, as name: String) throws(FileFault) -> String {
        if isForced {
            try FileRename.replacing(draft, path(name))
            return path(name)
        }
        if try FileRename.toNew(draft, path(name)) { return path(name) }
        for number in 1...DownloadDirectory.mostNumbers {
            let other = path(FileName.numbered(name, number))
            if try FileRename.toNew(draft, other) { return other }
        }
        throw FileFault(.other(EEXIST), path: path(name))
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
