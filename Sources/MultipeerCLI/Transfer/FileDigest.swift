import MultipeerEssentials

/// The size and the SHA-256 of one file of a transfer: two files that have the same are the same file.
package struct FileDigest: Equatable, Sendable {
    /// In the transfer, from 1.
    package let number: Int
    package let size: UInt64
    package let sha256: [UInt8]

    /// In a message: the number (32 bits), the size (64 bits) and the digest, big-endian.
    package static let byteCount = 4 + 8 + SHA256.byteCount

    package init(_ number: Int, size: UInt64, sha256: [UInt8]) {
        self.number = number
        self.size = size
        self.sha256 = sha256
    }

    /// Reads a file from its first byte, on a thread of the file pool; nil if it cannot be read, or is not regular.
    ///
    /// `size`: a file that has another one is not read, and its digest is left out. `isWanted` is asked again and again, and ends the
    /// reading.
    static func read(
        _ number: Int, size: UInt64? = nil, while isWanted: @escaping @Sendable () -> Bool = { true },
        _ open: @escaping @Sendable () throws(FileFault) -> FileSource
    ) async -> FileDigest? {
        guard let loop = try? EventLoop.nextFileLoop() else { return nil }
        let task = Task(executorPreference: loop.taskExecutor) { () -> FileDigest? in
            do throws(FileFault) {
                let source = try open()
                if let size, let found = source.size, size != found {
                    return FileDigest(number, size: found, sha256: [])
                }
                var hasher = SHA256.Hasher()
                var count: UInt64 = 0
                while isWanted(), let bytes = try source.read() {
                    hasher.update(bytes)
                    count += UInt64(bytes.count)
                    // Transfers of other files go on meanwhile.
                    await Task.yield()
                }
                return isWanted() ? FileDigest(number, size: count, sha256: hasher.finish()) : nil
            } catch {
                // Whatever the reason, this file is compared with no other.
                return nil
            }
        }
        return await task.value
    }

    /// Returns the files of a message; nil if it has another form, or more than `most`.
    package static func list(_ bytes: ArraySlice<UInt8>, most: Int) -> [FileDigest]? {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: byteCount), bytes.count / byteCount <= most else {
            return nil
        }
        var files: [FileDigest] = []
        var rest = bytes
        while !rest.isEmpty {
            let number = integer(rest.prefix(4))
            let size = integer(rest.dropFirst(4).prefix(8))
            guard (1...UInt64(FilePosition.most)).contains(number) else { return nil }
            files.append(
                FileDigest(
                    Int(number), size: size, sha256: Array(rest.dropFirst(12).prefix(SHA256.byteCount))))
            rest = rest.dropFirst(byteCount)
        }
        return files
    }

    var bytes: [UInt8] {
        func octets(_ value: UInt64, _ count: Int) -> [UInt8] {
            stride(from: count - 1, through: 0, by: -1).map {
                UInt8(truncatingIfNeeded: value >> UInt64(8 * $0))
            }
        }
        return octets(UInt64(clamping: number), 4) + octets(size, 8) + sha256
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
