extension IncomingResource {
    /// What is done with a file that has arrived whole before its sender is notified of that: if it fails, the sender is notified
    /// of the failure, and nothing is kept.
    package struct Completion: Sendable {
        /// Whether the file and its name have to be on disk, and not only in the system's cache.
        package let isSynchronized: Bool
        /// Renames the closed file within its directory, and returns its new path. Blocks.
        package let rename: @Sendable (_ path: String) throws(FileFault) -> String

        /// The default removes the ending of partial files from the random name.
        package init(
            isSynchronized: Bool = false,
            rename: @escaping @Sendable (_ path: String) throws(FileFault) -> String = PartialFile.complete
        ) {
            self.isSynchronized = isSynchronized
            self.rename = rename
        }

        /// Gives the file a name, which is one path component.
        package init(naming name: String) {
            self.init { path throws(FileFault) in
                let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
                try FileRename.move(path, directory + name, replacing: false)
                return directory + name
            }
        }
    }
}
