import Glibc
import MultipeerTransport

/// A directory of its own for one test, removed with everything in it.
final class Folder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/multipeer-tests-XXXXXX".utf8CString)
        unsafe mkdtemp(&template)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in names where unsafe unlink(path(name)) != 0 { unsafe rmdir(path(name)) }
        unsafe rmdir(path)
    }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    var names: [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Writes a file, and returns its path.
    func make(_ name: String, _ bytes: [UInt8]) throws -> String {
        try PrivateFile.replace(path(name), with: bytes)
        return path(name)
    }

    /// O_PATH: how a directory is opened that may not be listed.
    static let placeOnly: Int32 = 0o10_000_000

    /// Lets every descriptor of this directory be one of something else, for which calls fail.
    func exchangeDescriptors(for path: String, _ flags: Int32) {
        let other = unsafe open(path, flags | O_CLOEXEC)
        for number in 3..<Int32(1_024) where number != other {
            var link = [CChar](repeating: 0, count: 256)
            let count = unsafe readlink("/proc/self/fd/\(number)", &link, link.count)
            let bytes = link.prefix(max(count, 0)).map(UInt8.init(bitPattern:))
            if bytes.elementsEqual(self.path.utf8) { dup2(other, number) }
        }
        close(other)
    }

    /// Overwrites, or appends, in place.
    func append(_ bytes: [UInt8], to name: String) {
        let descriptor = unsafe open(path(name), O_WRONLY | O_APPEND)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
