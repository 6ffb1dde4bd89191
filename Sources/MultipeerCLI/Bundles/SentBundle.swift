import MultipeerCommandLine
package import MultipeerEssentials

/// Small files of one directory that leave as one resource.
package struct SentBundle: Sendable {
    package struct File: Sendable {
        /// In the transfer, from 1.
        package let number: Int
        package let entry: SentDirectory.Entry
    }

    /// What was read of the files.
    package struct Contents: Sendable {
        package var bytes: [UInt8] = []
        /// Those in it, with their sizes, and digests if they were wanted.
        package var files: [(number: Int, size: Int, digest: [UInt8]?)] = []
        /// Those that cannot be read, with the reason.
        package var failures: [(number: Int, fault: FileFault)] = []
        /// Those that have become too large for a bundle: they are sent alone.
        package var grown: [Int] = []
    }

    package let number: Int
    package let directory: SentDirectory
    package let files: [File]

    package init(_ number: Int, of directory: SentDirectory, _ files: [File]) {
        self.number = number
        self.directory = directory
        self.files = files
    }

    /// The records of its files, without their bytes.
    package var list: [UInt8] {
        var writer = FileBundleWriter()
        for file in files {
            let entry = file.entry
            writer.enter(entry.path.directory)
            FileBundleWriter.put(
                file.number, SentBundle.kind(entry.kind), entry.modified, entry.path.name,
                size: Int(clamping: entry.size), &writer.bytes)
        }
        return writer.bytes
    }

    /// Reads the wanted files, as they are now. Blocks.
    package func contents(of wanted: [File], withDigests wantsDigests: Bool) -> Contents {
        var contents = Contents()
        var writer = FileBundleWriter()
        writer.bytes.reserveCapacity(FileBundle.longest)
        var place: (path: [FilePath], result: Result<OpenDirectory, FileFault>)?
        // What the files after this one had when they were listed has room, however much this one has grown.
        var rest = wanted.reduce(0) { $0 + SentBundle.cost($1) }
        for file in wanted {
            let path = file.entry.path
            rest -= SentBundle.cost(file)
            writer.enter(path.directory)
            if file.entry.kind == .directory {
                FileBundleWriter.put(
                    file.number, .directory, file.entry.modified, path.name, size: 0, &writer.bytes)
                contents.files.append((file.number, 0, nil))
                continue
            }
            if place?.path != path.directory { place = (path.directory, open(path.directory)) }
            do throws(FileFault) {
                guard let open = try place?.result.get() else { continue }
                let size = try SentBundle.append(file, in: open, &writer, before: rest)
                let digest = wantsDigests ? SHA256.hash(Array(writer.bytes.suffix(size))) : nil
                contents.files.append((file.number, size, digest))
            } catch {
                if error.reason == .tooLarge {
                    contents.grown.append(file.number)
                } else {
                    contents.failures.append((file.number, error))
                }
            }
        }
        writer.leaveEmpty()
        contents.bytes = writer.bytes
        return contents
    }

    private func open(_ path: [FilePath]) -> Result<OpenDirectory, FileFault> {
        do throws(FileFault) { return .success(try directory.directory(path.dropFirst())) } catch {
            return .failure(error)
        }
    }

    /// Returns the number of its bytes.
    private static func append(
        _ file: File, in directory: OpenDirectory, _ writer: inout FileBundleWriter, before rest: Int
    ) throws(FileFault) -> Int {
        let name = file.entry.path.name
        let room = FileBundle.longest - writer.bytes.count - FileBundle.head - name.utf8.count - rest
        var count = 0
        let most = min(room, FileBundle.largestFile)
        try directory.append(name, to: &writer.bytes, upTo: most) { found, bytes in
            count = found.size
            FileBundleWriter.put(
                file.number, found.isExecutable ? .program : .file, found.modified, name, size: found.size,
                &bytes)
        }
        return count
    }

    private static func cost(_ file: File) -> Int {
        FileBundle.cost(of: file.entry.path, size: file.entry.size)
    }

    private static func kind(_ kind: SentFileDetails.Kind) -> FileBundle.Kind {
        switch kind {
        case .file: .file
        case .program: .program
        case .directory: .directory
        }
    }
}
