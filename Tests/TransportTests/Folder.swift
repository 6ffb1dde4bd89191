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

    /// Overwrites, or appends, in place.
    func append(_ bytes: [UInt8], to name: String) {
        let descriptor = unsafe open(path(name), O_WRONLY | O_APPEND)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
