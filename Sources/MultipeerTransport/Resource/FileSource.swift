import MultipeerFraming
import MultipeerPlatform

/// A regular file that is read once: as many bytes as it had when it was opened, in large pieces.
///
/// What is made when it is read, as in /proc, /sys and some mounts of user space, says that it has no bytes, or that it takes no room.
/// Such a file is read at once if it is short; a longer one has no known size, and is read to its end.
///
/// Its owner named it, so links are followed, as `cp` does. Anything but a regular file is refused without being opened:
/// opening a device may already have an effect, and a pipe's writer would be released.
package final class FileSource: RepeatableSource {
    /// Four of the longest DATA, so that none is shorter than it could be.
    package static let piece = 4 * Limits.frame

    private struct Reading: ~Copyable {
        let descriptor: Descriptor
        /// Nil for a file that is read to its end.
        var rest: UInt64?
        /// What was read when the file was opened.
        var whole: [UInt8]?
        /// What lets the next transfer have a descriptor when this one is over.
        var turn: FileTurn?
    }

    package let path: String
    package let size: UInt64?
    private let reading: Locked<Reading>

    /// Blocks: for a thread of the file pool.
    package convenience init(_ path: String) throws(FileFault) {
        // A C string would end there, and name another file.
        if path.utf8.contains(0) { throw FileFault(.notFound, path: path) }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw FileFault(lastAt: path) }
        try FileSource.check(status, path)
        try self.init(Descriptor(Descriptors.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), path)
    }

    /// The descriptor is what a call returned that opened the file just now.
    init(_ descriptor: consuming Descriptor, _ path: String) throws(FileFault) {
        guard descriptor.number >= 0 else { throw FileFault(lastAt: path) }
        var status = stat()
        // Checked again, because another file may have replaced it.
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw FileFault(lastAt: path) }
        try FileSource.check(status, path)
        var size: UInt64? = UInt64(clamping: status.st_size)
        var whole: [UInt8]?
        if FileSource.isDoubtful(status) {
            let start = try FileRead.bytes(of: path, firstUpTo: FileSource.piece, of: descriptor.number)
            whole = start.count < FileSource.piece ? start : nil
            size = whole.map { UInt64($0.count) }
        }
        // What one read takes is not read ahead.
        if let size, size > UInt64(FileSource.piece) { SystemCalls.readAhead(descriptor.number) }
        self.path = path
        self.size = size
        reading = Locked(Reading(descriptor: descriptor, rest: size, whole: whole))
    }

    /// Returns whether its size may be made up: a file with bytes takes room on a disk, unless it is all hole.
    static func isDoubtful(_ status: stat) -> Bool {
        status.st_size == 0 || status.st_blocks == 0 && status.st_size < FileSource.piece
    }

    static func check(_ status: stat, _ path: String) throws(FileFault) {
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { throw FileFault(.isDirectory, path: path) }
        if kind != S_IFREG { throw FileFault(.notRegular, path: path) }
    }

    /// Returns the next piece; nil after the last. Blocks. Bytes appended since the file was opened are not read.
    package func read() throws(FileFault) -> [UInt8]? {
        try reading.withLock { reading throws(FileFault) in
            if reading.rest == 0 { return nil }
            if let whole = reading.whole {
                reading.rest = 0
                return whole
            }
            guard let rest = reading.rest else {
                let bytes = try FileRead.bytes(
                    of: path, next: FileSource.piece, orFewer: true, of: reading.descriptor.number)
                return bytes.isEmpty ? nil : bytes
            }
            let count = Int(min(rest, UInt64(FileSource.piece)))
            let bytes = try FileRead.bytes(of: path, next: count, of: reading.descriptor.number)
            reading.rest = rest - UInt64(bytes.count)
            return bytes
        }
    }

    /// Returns the bytes at a position, and does not change what `read` returns next. Blocks.
    package func read(at position: UInt64, _ wanted: Int) throws(FileFault) -> [UInt8] {
        try reading.withLock { reading throws(FileFault) in
            let (number, path) = (reading.descriptor.number, path)
            return try FileRead.bytes(of: path, wanted, at: position, of: number)
        }
    }

    /// Has `read` return what follows these bytes.
    package func skip(to offset: UInt64) throws(FileFault) {
        try reading.withLock { reading throws(FileFault) in
            guard let place = off_t(exactly: offset),
                lseek(reading.descriptor.number, place, SEEK_SET) == place
            else { throw FileFault(lastAt: path) }
            reading.rest = size.map { $0 - min(offset, $0) }
            reading.whole = nil
        }
    }

    package func next() async throws(ResourceFault) -> [UInt8]? {
        do throws(FileFault) { return try read() } catch { throw .file(error) }
    }

    /// Holds the turn in which it was opened.
    func hold(_ turn: FileTurn) { reading.withLock { $0.turn = turn } }

    /// Does nothing: a blocking read cannot be cancelled.
    package func cancel() {}
}
