import MultipeerCommandLine
package import MultipeerEssentials

/// Where one file is saved once it is complete, and with what attributes.
package struct FileDestination: Sendable {
    package let directory: OpenDirectory
    package let name: String
    /// Whether an existing file is replaced.
    package let mayReplace: Bool
    package var kind = SentFileDetails.Kind.file
    package var modified: FileTime?
    /// Called if a program cannot be executed here.
    var onLostPermission: @Sendable () -> Void = {}
    /// If a name is taken at the last moment, a number up to this one is added.
    private static let mostNumbers = 999

    package init(
        _ directory: OpenDirectory, _ name: String, mayReplace: Bool, _ details: SentFileDetails? = nil
    ) {
        self.directory = directory
        self.name = name
        self.mayReplace = mayReplace
        kind = details?.kind ?? .file
        modified = details?.modified
    }

    /// Gives a complete file, a name in the directory, its attributes and its name. Returns the name: another one if it was
    /// taken meanwhile. An existing file keeps its name, unless files may be replaced.
    package func settle(_ draft: String) throws(FileFault) -> String {
        if kind == .program || modified != nil {
            let isDone = try directory.set(draft, modified: modified, isExecutable: kind == .program)
            if !isDone { onLostPermission() }
        }
        if mayReplace {
            try directory.rename(draft, replacing: name)
            return name
        }
        if try directory.rename(draft, toNew: name) { return name }
        for number in 1...FileDestination.mostNumbers {
            let other = FileName.numbered(name, number)
            if try directory.rename(draft, toNew: other) { return other }
        }
        throw FileFault(.other(EEXIST), path: name)
    }

    /// Gives a received file its name before the sender is notified.
    func completion(isSynchronized: Bool = false) -> IncomingResource.Completion {
        IncomingResource.Completion(isSynchronized: isSynchronized) { draft throws(FileFault) in
            try settle(FileDestination.name(draft))
        }
    }

    /// Returns the last component of a path.
    static func name(_ path: String) -> String {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:))
        return String(path[(start ?? path.startIndex)...])
    }
}
