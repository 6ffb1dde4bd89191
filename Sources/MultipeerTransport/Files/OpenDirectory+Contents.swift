import MultipeerPlatform

extension OpenDirectory {
    /// What a file has when it is opened to be read whole.
    package struct Contents: Sendable {
        package let size: Int
        package let modified: FileTime
        package let isExecutable: Bool
    }

    /// Appends a regular file to `bytes`, after what `head` appends, which gets what the file is. Throws `tooLarge` if it has more than
    /// `limit` bytes, which may be negative; `bytes` is unchanged after an error. Blocks.
    package func append(
        _ name: String, to bytes: inout [UInt8], upTo limit: Int, head: (Contents, inout [UInt8]) -> Void
    ) throws(FileFault) {
        let path = try path(of: name)
        var status = stat()
        guard unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw FileFault(lastAt: path)
        }
        // Opening a device may already have an effect.
        try FileSource.check(status, path)
        let file = Descriptor(
            Descriptors.open(name, in: number, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))
        guard file.number >= 0, unsafe fstat(file.number, &status) == 0 else { throw FileFault(lastAt: path) }
        try FileSource.check(status, path)
        // What stat says of a file that is made when it is read is not what can be read of it.
        let made =
            FileSource.isDoubtful(status) && limit >= 0
            ? try FileRead.bytes(of: path, firstUpTo: limit + 1, of: file.number) : nil
        guard let size = made?.count ?? Int(exactly: status.st_size), size >= 0, size <= limit else {
            throw FileFault(.tooLarge, path: path)
        }
        let before = bytes.count
        let contents = Contents(
            size: size,
            modified: FileTime(
                seconds: Int64(status.modified.tv_sec), nanoseconds: Int64(status.modified.tv_nsec)),
            isExecutable: status.st_mode & 0o100 != 0)
        head(contents, &bytes)
        if let made { return bytes.append(contentsOf: made) }
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: size))
        do throws(FileFault) {
            try OpenDirectory.read(file.number, into: &bytes, from: start, path)
        } catch {
            bytes.removeSubrange(before...)
            throw error
        }
    }

    private static func read(
        _ file: Int32, into bytes: inout [UInt8], from start: Int, _ path: String
    ) throws(FileFault) {
        var count = start
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe MultipeerPlatform.read(
                    file, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            }
            if got == 0 { throw FileFault(.shrank, path: path) }
            if got > 0 { count += got } else if errno != EINTR { throw FileFault(lastAt: path) }
        }
    }
}
