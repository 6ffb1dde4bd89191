import MultipeerPlatform

/// A descriptor of a regular file, which closes with its owner. Links are refused, and opening never blocks.
struct OpenFile: ~Copyable {
    private let descriptor: Int32
    private let path: String

    init(_ path: String, _ flags: Int32) throws(FileFault) {
        self.path = path
        descriptor = Descriptors.open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor < 0 { throw FileFault(lastAt: path) }
        let status = try status()
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { throw FileFault(.isDirectory, path: path) }
        if kind != S_IFREG { throw FileFault(.notRegular, path: path) }
    }

    deinit { close(descriptor) }

    func status() throws(FileFault) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileFault(lastAt: path) }
        return status
    }

    func readAll(limit: Int) throws(FileFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            }
            if got == 0 { return Array(bytes[..<count]) }
            if got > 0 { count += got } else if errno != EINTR { throw FileFault(lastAt: path) }
        }
        throw FileFault(.tooLarge, path: path)
    }

    func writeAll(_ bytes: [UInt8]) throws(FileFault) {
        var count = 0
        while count < bytes.count {
            let put = unsafe bytes.withUnsafeBytes { bytes in
                unsafe write(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            }
            if put >= 0 { count += put } else if errno != EINTR { throw FileFault(lastAt: path) }
        }
    }

    /// Makes it readable and writable by its owner only.
    func hide() throws(FileFault) {
        guard fchmod(descriptor, 0o600) == 0 else { throw FileFault(lastAt: path) }
    }

    func synchronise() throws(FileFault) {
        guard fsync(descriptor) == 0 else { throw FileFault(lastAt: path) }
    }
}
