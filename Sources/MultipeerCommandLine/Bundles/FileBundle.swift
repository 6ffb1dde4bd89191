package import MultipeerEssentials

/// Small files of a directory that is sent, as one resource: a sequence of records, each with all that belongs to one file.
///
/// Integers are big-endian. A record begins with a byte that says what it is:
///
/// - 1, a directory: the number of bytes of its path (16 bits) and the path, which begins with the name of the directory that is
///   sent. What follows is in it.
/// - 2, a file, 3, one that its owner may execute, or 4, a directory without entries: its number in the transfer (32 bits); the time
///   of its modification, as seconds since 1970 (64 bits, signed) and nanoseconds (32 bits); the number of bytes of its name (16
///   bits) and the name; the number of its bytes (32 bits) and, in a bundle, these. A list of files has records without bytes.
///
/// A bundle begins with a directory and ends with a record, numbers only increase, and a directory is followed by what is in it. It
/// is read whole, before anything is done with it.
package struct FileBundle: Sendable {
    package struct Entry: Sendable {
        package let number: Int
        package let kind: Kind
        package let modified: FileTime
        /// Why it cannot be saved, or where.
        package let path: Result<RelativePath, RelativePath.Fault>
        /// What the sender calls it, whatever that is.
        package let name: String
        package let size: Int
        /// Where its bytes are; empty in a list.
        package let contents: Range<Int>
    }

    package enum Kind: UInt8, Sendable {
        case file = 2
        case program = 3
        case directory = 4
    }

    /// It is not as this type describes it.
    package struct Malformed: Error, Equatable { package init() {} }

    /// The most bytes, so that what is lost when a transfer breaks is bounded, and so is what both sides hold in memory.
    package static let longest = 524_288
    /// The most files, and the largest one.
    package static let mostFiles = 1_024
    package static let largestFile = 65_536
    /// A record without names and bytes.
    package static let head = 1 + 4 + 8 + 4 + 2 + 4
    fileprivate static let directory: UInt8 = 1

    package let bytes: [UInt8]
    package let entries: [Entry]

    /// Reads a bundle, or a list of files. Limits are checked before anything is allocated for a record.
    package init(reading bytes: [UInt8], isList: Bool = false) throws(Malformed) {
        var reader = Reader(bytes)
        var entries: [Entry] = []
        var place: Result<DirectoryPath, RelativePath.Fault>?
        var isEmpty = true
        while !reader.isAtEnd {
            let tag = try reader.integer(1)
            if tag == UInt64(FileBundle.directory) {
                guard !isEmpty || place == nil else { throw Malformed() }
                let text = try reader.text()
                do throws(RelativePath.Fault) {
                    place = .success(DirectoryPath(try RelativePath(text)))
                } catch {
                    place = .failure(error)
                }
                isEmpty = true
                continue
            }
            guard let kind = UInt8(exactly: tag).flatMap(Kind.init), let place,
                entries.count < FileBundle.mostFiles
            else { throw Malformed() }
            let entry = try reader.entry(kind, in: place, isList)
            guard entries.last.map({ $0.number < entry.number }) ?? true else { throw Malformed() }
            entries.append(entry)
            isEmpty = false
        }
        guard !isEmpty else { throw Malformed() }
        self.bytes = bytes
        self.entries = entries
    }

    /// Returns how many bytes a file takes at most, with a record of its directory.
    package static func cost(of path: RelativePath, size: UInt64) -> Int {
        let names =
            path.directory.reduce(path.directory.count) { $0 + $1.text.utf8.count } + path.name.utf8.count
        return head + 3 + names + Int(min(size, UInt64(longest)))
    }
}

/// Writes records one after the other.
package struct FileBundleWriter: Sendable {
    package var bytes: [UInt8] = []
    private var directory: [FilePath]?
    /// The record of the directory.
    private var record = 0..<0

    package init() {}

    /// Appends a directory, unless the last file was in it.
    package mutating func enter(_ directory: [FilePath]) {
        if self.directory == directory { return }
        leaveEmpty()
        self.directory = directory
        let (start, text) = (bytes.count, FilePath(directory).text)
        bytes.append(FileBundle.directory)
        FileBundleWriter.put(UInt64(text.utf8.count), 2, &bytes)
        bytes += text.utf8
        record = start..<bytes.count
    }

    /// Removes the record of a directory in which nothing followed.
    package mutating func leaveEmpty() {
        guard directory != nil, bytes.count == record.upperBound else { return }
        bytes.removeSubrange(record)
        directory = nil
    }

    /// Appends everything about a file but its bytes, which are to follow.
    package static func put(
        _ number: Int, _ kind: FileBundle.Kind, _ modified: FileTime, _ name: String, size: Int,
        _ bytes: inout [UInt8]
    ) {
        bytes.append(kind.rawValue)
        put(UInt64(clamping: number), 4, &bytes)
        put(UInt64(bitPattern: modified.seconds), 8, &bytes)
        put(UInt64(clamping: modified.nanoseconds), 4, &bytes)
        put(UInt64(name.utf8.count), 2, &bytes)
        bytes += name.utf8
        put(UInt64(clamping: size), 4, &bytes)
    }

    private static func put(_ value: UInt64, _ count: Int, _ bytes: inout [UInt8]) {
        for place in stride(from: count - 1, through: 0, by: -1) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * place)))
        }
    }
}

/// Reads fields one after the other; throws where there are fewer bytes than a field has.
private struct Reader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// `count`: at most 8.
    mutating func integer(_ count: Int) throws(FileBundle.Malformed) -> UInt64 {
        try skip(count).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
    }

    mutating func text() throws(FileBundle.Malformed) -> String {
        let range = try skip(Int(try integer(2)))
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw FileBundle.Malformed() }
        return text
    }

    mutating func entry(
        _ kind: FileBundle.Kind, in place: Result<DirectoryPath, RelativePath.Fault>, _ isList: Bool
    ) throws(FileBundle.Malformed) -> FileBundle.Entry {
        let number = Int(try integer(4))
        let seconds = Int64(bitPattern: try integer(8))
        let nanoseconds = try integer(4)
        let name = try text()
        let size = Int(try integer(4))
        guard nanoseconds < 1_000_000_000, size <= FileBundle.largestFile, kind != .directory || size == 0
        else { throw FileBundle.Malformed() }
        let contents = try skip(isList ? 0 : size)
        let path: Result<RelativePath, RelativePath.Fault>
        do throws(RelativePath.Fault) {
            path = .success(try place.get().file(name))
        } catch {
            path = .failure(error)
        }
        return FileBundle.Entry(
            number: number, kind: kind,
            modified: FileTime(seconds: seconds, nanoseconds: Int64(nanoseconds)), path: path, name: name,
            size: size, contents: contents)
    }

    private mutating func skip(_ count: Int) throws(FileBundle.Malformed) -> Range<Int> {
        guard count <= bytes.count - position else { throw FileBundle.Malformed() }
        defer { position += count }
        return position..<position + count
    }
}
