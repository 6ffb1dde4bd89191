package import MultipeerCommandLine
package import MultipeerEssentials

/// A directory to send, with all files in it, found before the network is used.
package final class SentDirectory: Sendable {
    package struct Entry: Equatable, Sendable {
        package let path: RelativePath
        package let kind: SentFileDetails.Kind
        package let size: UInt64
        package let modified: FileTime
    }

    /// What is left out of one kind: how many, and the first of them.
    private struct Omission {
        var count = 0
        var first: [String] = []

        mutating func add(_ path: @autoclosure () -> String) {
            count += 1
            if first.count < 3 { first.append(path()) }
        }

        /// `one` and `several`: what they are.
        func words(_ one: String, _ several: String) -> String? {
            guard count > 0 else { return nil }
            let more = count > first.count ? " and \(count - first.count) more" : ""
            let names = first.map(\.printable).joined(separator: ", ")
            return "\(count) \(count == 1 ? one : several) (\(names)\(more))"
        }
    }

    /// What is found on the way.
    private struct Walk {
        var entries: [Entry] = []
        var links = Omission()
        var others = Omission()
        var failures: [(name: String, reason: String)] = []
    }

    /// The most directories of one command: each is held open.
    package static let mostAtOnce = 64

    package let name: String
    /// The files, and the directories without entries.
    package let entries: [Entry]
    /// Symbolic links, and sockets, devices and FIFOs, which are left out.
    private let links: Omission
    private let others: Omission
    /// What cannot be sent, with the reason.
    package let failures: [(name: String, reason: String)]
    private let root: OpenDirectory
    /// The directory of the file that was opened last: the next one is usually in the same.
    private let last = Locked<(path: ArraySlice<FilePath>, directory: OpenDirectory)?>(nil)

    /// Lists the directory that the user named. Links on the way to it are followed, and none in it.
    package init(_ word: String, most: Int = FilePosition.most) throws(CommandError) {
        name = try SentDirectory.name(word)
        var walk = Walk()
        do throws(FileFault) {
            root = try OpenDirectory(word)
            try SentDirectory.list(root, DirectoryPath(name), most, &walk)
        } catch {
            throw CommandError(
                "cannot send \(error.path.printable): \(error.reason)", exit: .system)
        }
        guard walk.entries.count <= most else {
            throw CommandError(
                "cannot send \(word.printable): it has more than \(most) files",
                hint: "send an archive of it",
                exit: .system)
        }
        entries = walk.entries
        (links, others, failures) = (walk.links, walk.others, walk.failures)
    }

    package var contents: OfferedFiles.Contents {
        let directories = entries.count { $0.kind == .directory }
        return OfferedFiles.Contents(files: entries.count - directories, directories: directories)
    }

    package var size: UInt64 { entries.reduce(0) { $0 &+ $1.size } }

    /// A line about the entries that are left out; nil if there are none.
    package var omissions: String? {
        let parts = [
            links.words("symbolic link", "symbolic links"),
            others.words("socket, FIFO or device", "sockets, FIFOs or devices"),
        ].compactMap(\.self)
        return parts.isEmpty ? nil : "\(name.printable): \(parts.joined(separator: " and ")) left out"
    }

    /// Opens a file. Each directory on the way is opened by its name in the one before, so that a link which has replaced one
    /// of them meanwhile is an error.
    package func open(_ path: RelativePath) throws(FileFault) -> FileSource {
        try directory(path.directory[...].dropFirst()).file(path.name)
    }

    /// Returns the directory that a file is in. `path`: without the first component, which is this one.
    package func directory(_ path: ArraySlice<FilePath>) throws(FileFault) -> OpenDirectory {
        if let last = last.withLock({ $0 }), last.path == path { return last.directory }
        var directory = root
        for name in path { directory = try directory.directory(name.text) }
        last.withLock { [directory] in $0 = (path, directory) }
        return directory
    }

    private static func list(
        _ directory: OpenDirectory, _ place: DirectoryPath, _ most: Int, _ walk: inout Walk
    ) throws(FileFault) {
        let found = try directory.entries()
        let before = walk.entries.count
        for entry in found {
            if walk.entries.count > most { return }
            do throws(FileFault) {
                try take(entry, in: directory, place, most, &walk)
            } catch {
                walk.failures.append((text(entry.name, in: place), "\(error.reason)"))
            }
        }
        // Only what is in a directory shows that there is one.
        guard walk.entries.count == before,
            let path = try? RelativePath(FilePath(place.components).text)
        else { return }
        walk.entries.append(
            Entry(path: path, kind: .directory, size: 0, modified: FileTime(seconds: 0)))
    }

    private static func take(
        _ entry: OpenDirectory.Entry, in directory: OpenDirectory, _ place: DirectoryPath, _ most: Int,
        _ walk: inout Walk
    ) throws(FileFault) {
        func fail(_ reason: String) { walk.failures.append((text(entry.name, in: place), reason)) }
        switch entry.kind {
        case .link: walk.links.add(text(entry.name, in: place))
        case .other: walk.others.add(text(entry.name, in: place))
        case .unnamed: fail("its name is not UTF-8")
        case .directory where place.components.count >= RelativePath.mostDirectories:
            fail("\(RelativePath.Fault.deep)")
        case .directory:
            try list(directory.directory(entry.name), place.directory(entry.name), most, &walk)
        case .file(let size, let modified, let isExecutable):
            do throws(RelativePath.Fault) {
                walk.entries.append(
                    Entry(
                        path: try place.file(entry.name), kind: isExecutable ? .program : .file, size: size,
                        modified: modified))
            } catch {
                fail("\(error)")
            }
        }
    }

    private static func text(_ name: String, in place: DirectoryPath) -> String {
        FilePath(place.components + [FilePath(name)]).text
    }

    /// The last component of a path; that of the directory itself for `.`, `..` and the like.
    private static func name(_ word: String) throws(CommandError) -> String {
        let last = FilePath(word).name
        var name = last
        if ["", ".", ".."].contains(last) {
            guard let whole = unsafe realpath(word, nil) else {
                throw DescriptorStream.failure("cannot send \(word.printable)")
            }
            defer { unsafe free(whole) }
            name = unsafe FilePath(String(cString: whole)).name
        }
        if let fault = RelativePath.fault(ofName: name) {
            let reason = name.isEmpty ? "it has no name" : "\(fault)"
            throw CommandError("cannot send \(word.printable): \(reason)", exit: .system)
        }
        return name
    }
}

extension SentDirectory: Equatable {
    package static func == (one: SentDirectory, other: SentDirectory) -> Bool { one === other }
}
