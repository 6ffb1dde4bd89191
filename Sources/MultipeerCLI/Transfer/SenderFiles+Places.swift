import MultipeerCommandLine
import MultipeerEssentials

/// Where a file is put, or why it is not taken.
extension SenderFiles {
    static let exists = "already exists, and was not compared"
    /// The most directories of one sender.
    static let mostDirectories = SentDirectory.mostAtOnce

    func place(_ resource: IncomingResource, _ details: SentFileDetails?) throws(Refusal) -> File {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        guard let downloads = options.downloads else {
            guard details?.path == nil else {
                throw Refusal(
                    reason: "a directory cannot be written to standard output", note: .obstructed)
            }
            let name = FileName.of(label: resource.name)
            return File(
                id: id, resource: resource, place: .descriptor(STDOUT_FILENO),
                completion: IncomingResource.Completion { path throws(FileFault) in path }, name: name,
                key: name, directory: nil, shown: { _ in name })
        }
        if let details, let path = details.path {
            return try place(resource, id, details, path, downloads)
        }
        return try place(resource, id, details, in: downloads)
    }

    /// A file that is sent alone.
    private func place(
        _ resource: IncomingResource, _ id: Int, _ details: SentFileDetails?, in downloads: DownloadDirectory
    ) throws(Refusal) -> File {
        let label = FileName.of(label: resource.name)
        let existing = Existing(
            place: .single(downloads.opened, label), size: resource.size, shown: downloads.shown(label))
        return try reserving(label, isDirectory: false, existing) { () throws(Refusal) in
            if let obstacle = downloads.obstacle(to: label) {
                let isFile = obstacle == "already exists"
                let hint = isFile ? " (use --force to replace files)" : ""
                throw Refusal(
                    reason: isFile ? SenderFiles.exists + hint : obstacle,
                    note: isFile ? .exists : .obstructed, existing: existing, hint: hint)
            }
            var name = label
            if downloads.existing == .rename { name = try SenderFiles.free(label, in: downloads.opened) }
            // Another one is there, or the name is unsafe here.
            let note =
                name.hasBytes(of: resource.name)
                ? nil : details.map { TransferNote($0.position.number, .renamed(name)) }
            var destination = FileDestination(
                downloads.opened, name, mayReplace: downloads.isForced, details)
            destination.onLostPermission = output.losePermission
            return File(
                id: id, resource: resource, place: .opened(downloads.opened),
                completion: destination.completion(isSynchronized: options.isSynchronized), name: label,
                key: label, directory: nil, shown: { downloads.shown($0) }, note: note)
        }
    }

    /// A file of a directory.
    private func place(
        _ resource: IncomingResource, _ id: Int, _ details: SentFileDetails, _ path: RelativePath,
        _ downloads: DownloadDirectory
    ) throws(Refusal) -> File {
        let (directory, note) = try directory(of: path, details.position, downloads)
        let key = directory.renamed(path.components)
        let existing = Existing(
            place: .inside(directory, path), size: resource.size, shown: downloads.shown(key),
            directory: downloads.shown(directory.name))
        return try reserving(key, isDirectory: details.kind == .directory, existing) { () throws(Refusal) in
            if details.kind == .directory {
                try SenderFiles.refusing { () throws(FileFault) in try directory.create(path) }
                return File(
                    id: id, resource: resource, place: .opened(downloads.opened),
                    completion: SenderFiles.nothing(in: downloads.opened), name: path.text, key: key,
                    directory: directory, shown: { _ in downloads.shown(key) }, note: note,
                    isEmptyDirectory: true)
            }
            guard !path.directory.isEmpty else {
                throw Refusal(reason: "\(FileFault.Reason.isDirectory)", note: .obstructed)
            }
            let parent = try SenderFiles.refusing { () throws(FileFault) in try directory.parent(of: path) }
            let name = try SenderFiles.name(of: path, in: parent, downloads.existing, existing)
            var destination = FileDestination(parent, name, mayReplace: downloads.isForced, details)
            destination.onLostPermission = output.losePermission
            let above = directory.renamed(path.directory)
            return File(
                id: id, resource: resource, place: .opened(parent),
                completion: destination.completion(isSynchronized: options.isSynchronized), name: path.text,
                key: key, directory: directory, shown: { downloads.shown("\(above)/\($0)") }, note: note)
        }
    }

    /// Returns the name of a file in its directory.
    private static func name(
        of path: RelativePath, in parent: OpenDirectory, _ rule: ExistingFiles?, _ existing: Existing
    ) throws(Refusal) -> String {
        guard let entry = parent.entry(path.name) else { return path.name }
        if entry.kind == .directory {
            throw Refusal(reason: "a directory with this name exists", note: .obstructed)
        }
        switch rule {
        case .overwrite: return path.name
        case .rename: return try free(path.name, in: parent)
        case .skip, nil: throw Refusal(reason: SenderFiles.exists, note: .exists, existing: existing)
        }
    }

    /// Uses a name before it is known whether there is a place for the file, and releases it if there is none.
    private func reserving(
        _ key: String, isDirectory: Bool, _ existing: Existing, _ body: () throws(Refusal) -> File
    ) throws(Refusal) -> File {
        if let obstacle = reserve(key, isDirectory: isDirectory) {
            throw Refusal(reason: obstacle, note: .repeated, existing: isDirectory ? nil : existing)
        }
        do throws(Refusal) { return try body() } catch {
            release(key, isDirectory: isDirectory)
            throw error
        }
    }

    /// Throws when a file of this sender has the name already, which not even `--force` replaces.
    private func check(key: String) throws(Refusal) {
        let obstacle = state.withLock { $0.files.obstacle(to: key) }
        if let obstacle { throw Refusal(reason: obstacle, note: .repeated) }
    }

    private static func free(_ name: String, in directory: OpenDirectory) throws(Refusal) -> String {
        if directory.entry(name) == nil { return name }
        for number in 1...999 {
            let other = FileName.numbered(name, number)
            if directory.entry(other) == nil { return other }
        }
        throw Refusal(reason: "already exists, with all numbers", note: .exists)
    }

    static func refusing<Result>(
        _ body: () throws(FileFault) -> Result
    ) throws(Refusal) -> Result {
        do throws(FileFault) { return try body() } catch {
            let isObstacle = error.reason == .other(ENOTDIR)
            throw Refusal(
                reason: isObstacle ? "a file or link is where a directory has to be" : "\(error.reason)",
                note: isObstacle ? .obstructed : .trouble(TransferNote.Trouble(error.reason)))
        }
    }

    /// Receives no bytes, and leaves no file.
    private static func nothing(in directory: OpenDirectory) -> IncomingResource.Completion {
        IncomingResource.Completion { draft throws(FileFault) in
            try directory.remove(FileDestination.name(draft))
            return draft
        }
    }

    /// Returns the directory that a file belongs to, and a note for its sender if it got another name just now.
    func directory(
        of path: RelativePath, _ position: FilePosition, _ downloads: DownloadDirectory
    ) throws(Refusal) -> (ReceivedDirectory, TransferNote?) {
        let top = path.components[0]
        let name = FileName.of(label: top.text)
        let (directory, isNew) = try directories.withLock { directories throws(Refusal) in
            if let known = directories[top] { return (known, false) }
            guard directories.count < SenderFiles.mostDirectories else {
                throw Refusal(
                    reason: "more than \(SenderFiles.mostDirectories) directories", note: .obstructed)
            }
            try check(key: name)
            let directory = try SenderFiles.refusing { () throws(FileFault) in
                try ReceivedDirectory(
                    name, in: downloads.opened, existing: downloads.existing, counting: created)
            }
            directories[top] = directory
            return (directory, true)
        }
        guard isNew, !directory.name.hasBytes(of: top.text) else { return (directory, nil) }
        let problem = directory.name.hasBytes(of: name) ? "is no safe name here" : "already exists"
        let subject = directory.name.hasBytes(of: name) ? top.text : name
        output.say(
            "\(subject.printable) \(problem); saving as \(downloads.shown(directory.name).printable)")
        return (directory, TransferNote(position.number, .renamed(directory.name)))
    }
}
