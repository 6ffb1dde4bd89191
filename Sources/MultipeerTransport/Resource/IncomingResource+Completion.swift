extension IncomingResource {
    /// What is done with a file that has arrived whole before its sender is notified of that: if it fails, the sender is notified
    /// of the failure, and nothing is kept.
    package struct Completion: Sendable {
        /// Whether the file and its name have to be on disk, and not only in the system's cache.
        package let isSynchronized: Bool
        /// Renames the closed file, and returns its new path. Blocks.
        package let rename: @Sendable (_ path: String) throws(FileFault) -> String

        /// The default removes the ending of partial files from the random name.
        package init(
            isSynchronized: Bool = false,
            rename: @escaping @Sendable (_ path: String) throws(FileFault) -> String = PartialFile.complete
        ) {
            self.isSynchronized = isSynchronized
            self.rename = rename
        }

        /// Gives the file a name in a directory, which is in the same file system. The name is one path component.
        package init(naming name: String, in folder: ResourceFolder) {
            self.init { path throws(FileFault) in
                let new = try folder.path() + "/" + name
                try FileRename.move(path, new, replacing: false)
                return new
            }
        }
    }
}
