import MultipeerCommandLine
import MultipeerEssentials

/// Saves the files of one bundle, each under the rules for a file that comes alone.
struct BundleSaving {
    /// Where the files of one directory are put.
    private struct Place {
        let path: [FilePath]
        let directory: ReceivedDirectory
        let opened: OpenDirectory
        /// Begins what no other file of this sender is called.
        let above: String
        /// The first verdict and the first saved file of this directory.
        let firstVerdict: Int
        let firstSaved: Int
    }

    private let bundle: FileBundle
    private let position: BundlePosition
    private let sender: SenderFiles
    private let downloads: DownloadDirectory
    private let start = ContinuousClock.now
    private var place: Place?
    private var verdicts: [BundleVerdict] = []
    /// What was saved.
    private(set) var files = 0
    private(set) var bytes: UInt64 = 0
    private var saved: [Saved] = []
    /// About names that are not those of the sender, and files that cannot be stored.
    private(set) var notes: [TransferNote] = []

    init(
        _ bundle: FileBundle, _ position: BundlePosition, _ sender: SenderFiles,
        _ downloads: DownloadDirectory
    ) {
        self.bundle = bundle
        self.position = position
        self.sender = sender
        self.downloads = downloads
    }

    /// Saves every file that can be saved. `isAuthentic`: the bytes are those that were sent, by TLS or by a digest.
    mutating func run(isAuthentic: Bool) -> [BundleVerdict] {
        noteOffer()
        for entry in bundle.entries { verdicts.append(save(entry, isAuthentic)) }
        synchronizePlace()
        record()
        return verdicts
    }

    /// Returns which files can be saved, as far as that is known before they come. A file that cannot is skipped.
    mutating func consider() -> [BundleVerdict] {
        noteOffer()
        return bundle.entries.map { entry in
            attempt(entry) { saving throws(Problem) in
                let path = try saving.path(of: entry)
                let directory = try saving.directory(of: path, entry)
                let found = try saving.refusing { () throws(FileFault) in try directory.entry(path) }
                if let found, entry.kind != .directory {
                    throw .refused(
                        BundleSaving.obstacle(found, saving.existing(entry, path, in: directory)))
                }
            }
        }
    }

    /// What stands in the way of one file.
    private enum Problem: Error {
        case refused(SenderFiles.Refusal)
        case failed(FileFault)
    }

    private struct Saved {
        let path: RelativePath
        /// The name that it got.
        let name: String
        let shown: String
        let directory: String
        let size: Int
        let digest: [UInt8]?
        let isDirectory: Bool
    }

    private func noteOffer() {
        sender.state.withLock { state in
            for entry in bundle.entries { state.files.offer(FilePosition(entry.number, of: position.files)) }
        }
    }

    private mutating func attempt(
        _ entry: FileBundle.Entry, _ body: (inout BundleSaving) throws(Problem) -> Void
    ) -> BundleVerdict {
        do throws(Problem) {
            try body(&self)
            return .taken
        } catch {
            let name = (try? entry.path.get())?.text ?? FileName.of(label: entry.name)
            switch error {
            case .refused(let refusal):
                guard let note = sender.refuse(name, refusal, entry.number) else { return .failed }
                if note.isVerdict { return .refused(note) }
                notes.append(TransferNote(entry.number, note))
                return .failed
            case .failed(let fault):
                sender.fail(name, "\(fault.reason)")
                return verdict(entry.number, fault)
            }
        }
    }

    /// Returns the verdict about a file that cannot be stored, and notes the reason.
    private mutating func verdict(_ number: Int, _ fault: FileFault) -> BundleVerdict {
        notes.append(TransferNote(number, .trouble(TransferNote.Trouble(fault.reason))))
        return fault.reason == .noSpace ? .noSpace : .failed
    }

    private mutating func save(_ entry: FileBundle.Entry, _ isAuthentic: Bool) -> BundleVerdict {
        attempt(entry) { saving throws(Problem) in
            let path = try saving.path(of: entry)
            let place = try saving.place(for: path, entry)
            let key = place.above + path.name
            let isDirectory = entry.kind == .directory
            if let obstacle = saving.sender.reserve(key, isDirectory: isDirectory) {
                throw .refused(
                    SenderFiles.Refusal(
                        reason: obstacle, note: .repeated,
                        existing: isDirectory ? nil : saving.existing(entry, path, in: place.directory)))
            }
            var name = path.name
            do throws(Problem) {
                if isDirectory {
                    try saving.refusing { () throws(FileFault) in try place.directory.create(path) }
                } else {
                    name = try saving.create(entry, path, in: place)
                }
            } catch {
                saving.sender.release(key, isDirectory: isDirectory)
                throw error
            }
            saving.sender.keep(key, isDirectory: isDirectory)
            saving.note(entry, path, place, name, isAuthentic)
        }
    }

    private func path(of entry: FileBundle.Entry) throws(Problem) -> RelativePath {
        let path: RelativePath
        do throws(RelativePath.Fault) { path = try entry.path.get() } catch {
            throw .refused(SenderFiles.Refusal(reason: "\(error)", note: .badName))
        }
        if let largest = sender.options.largest, entry.size > largest {
            throw .refused(
                SenderFiles.Refusal(
                    reason: SenderFiles.tooLarge(UInt64(entry.size), largest), note: .tooLarge))
        }
        return path
    }

    private mutating func directory(
        of path: RelativePath, _ entry: FileBundle.Entry
    ) throws(Problem) -> ReceivedDirectory {
        do throws(SenderFiles.Refusal) {
            let position = FilePosition(entry.number, of: position.files)
            let (directory, note) = try sender.directory(of: path, position, downloads)
            if let note { notes.append(note) }
            return directory
        } catch {
            throw .refused(error)
        }
    }

    /// Creates the directory of a file if there is none.
    private mutating func place(
        for path: RelativePath, _ entry: FileBundle.Entry
    ) throws(Problem) -> Place {
        if let place, place.path == path.directory { return place }
        let directory = try directory(of: path, entry)
        let opened = try refusing { () throws(FileFault) in try directory.parent(of: path) }
        let above = directory.renamed(path.directory) + "/"
        synchronizePlace()
        let place = Place(
            path: path.directory, directory: directory, opened: opened, above: above,
            firstVerdict: verdicts.count,
            firstSaved: saved.count)
        self.place = place
        return place
    }

    /// Writes the new names in the directory to the disk, if the user wants that. Files whose names may not be there have failed.
    private mutating func synchronizePlace() {
        guard sender.options.isSynchronized, let place else { return }
        do throws(FileFault) { try place.opened.synchronize() } catch {
            for index in place.firstVerdict..<verdicts.count where verdicts[index] == .taken {
                verdicts[index] = verdict(bundle.entries[index].number, error)
            }
            for file in saved[place.firstSaved...] {
                // A file that has failed is not there.
                if !file.isDirectory { place.opened.withdraw(file.name) }
                sender.fail(file.path.text, "\(error.reason)")
                files -= 1
                bytes -= UInt64(file.size)
            }
            saved.removeSubrange(place.firstSaved...)
        }
    }

    private func refusing<Result>(_ body: () throws(FileFault) -> Result) throws(Problem) -> Result {
        do throws(SenderFiles.Refusal) { return try SenderFiles.refusing(body) } catch {
            throw .refused(error)
        }
    }

    /// Returns the name that the file got.
    private func create(
        _ entry: FileBundle.Entry, _ path: RelativePath, in place: Place
    ) throws(Problem) -> String {
        let directory = place.opened
        let details = SentFileDetails(
            FilePosition(entry.number, of: position.files), modified: entry.modified, path: path)
        var new = NewFile()
        new.modified = details.modified
        new.isExecutable = entry.kind == .program
        new.onLostPermission = sender.output.losePermission
        new.isReplacing = downloads.isForced
        new.isSynchronized = sender.options.isSynchronized
        let contents = bundle.bytes[entry.contents]
        do throws(FileFault) {
            if try directory.create(path.name, contents, as: new) { return path.name }
            if downloads.existing == .rename, directory.entry(path.name)?.kind != .directory {
                for number in 1...999 {
                    let name = FileName.numbered(path.name, number)
                    // Without this, all bytes would be written for every number that is taken.
                    guard directory.entry(name) == nil else { continue }
                    if try directory.create(name, contents, as: new) { return name }
                }
            }
        } catch {
            throw error.reason == .isDirectory ? .refused(BundleSaving.isDirectory) : .failed(error)
        }
        throw .refused(
            BundleSaving.obstacle(directory.entry(path.name), existing(entry, path, in: place.directory)))
    }

    private static let isDirectory = SenderFiles.Refusal(
        reason: "a directory with this name exists", note: .obstructed)

    private static func obstacle(
        _ found: OpenDirectory.Entry?, _ existing: SenderFiles.Existing
    ) -> SenderFiles.Refusal {
        if found?.kind == .directory { return isDirectory }
        return SenderFiles.Refusal(reason: SenderFiles.exists, note: .exists, existing: existing)
    }

    private func existing(
        _ entry: FileBundle.Entry, _ path: RelativePath, in directory: ReceivedDirectory
    ) -> SenderFiles.Existing {
        let key = directory.renamed(path.components)
        return SenderFiles.Existing(
            place: .inside(directory, path), size: UInt64(entry.size), shown: downloads.shown(key),
            directory: downloads.shown(directory.name))
    }

    private mutating func note(
        _ entry: FileBundle.Entry, _ path: RelativePath, _ place: Place, _ name: String, _ isAuthentic: Bool
    ) {
        files += 1
        bytes += UInt64(entry.size)
        if name != path.name { notes.append(TransferNote(entry.number, .renamed(name))) }
        let isShown = sender.output.isJSON
        saved.append(
            Saved(
                path: path, name: name, shown: isShown ? downloads.shown(place.above + name) : "",
                directory: place.directory.name, size: entry.size,
                digest: isShown && isAuthentic && entry.kind != .directory
                    ? SHA256.hash(Array(bundle.bytes[entry.contents])) : nil,
                isDirectory: entry.kind == .directory))
    }

    private func record() {
        let time = start.duration(to: .now)
        let transfers = saved.map { file in
            TransferReport.Transfer(
                name: file.shown, bytes: UInt64(file.size), time: time, digest: file.digest,
                isDirectory: file.isDirectory)
        }
        sender.state.withLock { state in
            for (file, transfer) in zip(saved, transfers) {
                state.report.add(
                    transfer, of: downloads.shown(file.directory), at: sender.start.duration(to: .now))
            }
        }
        guard sender.output.isJSON else { return }
        for (file, transfer) in zip(saved, transfers) {
            sender.output.print(.done(transfer, file.path.text, path: file.shown, from: sender.peer))
        }
    }
}
