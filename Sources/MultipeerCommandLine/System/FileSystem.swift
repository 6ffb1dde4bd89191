import MultipeerEssentials

/// What there is at a path.
package enum FileSystem {
    /// Whether there is anything; a link counts as what it leads to.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether there is anything that this user may execute.
    package static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    /// Returns the names in a directory, sorted; nil if it cannot be read.
    package static func names(in directory: String) -> [String]? {
        (try? OpenDirectory(directory).entries())?.map(\.name)
    }

    /// Returns where a link leads to; nil if the path is not one.
    package static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe readlink(path, &bytes, bytes.count)
        guard length >= 0 else { return nil }
        return String(decoding: bytes[..<length].lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the path of the file that a link leads to in the end, which may be missing; the path itself if it is not a link.
    package static func followed(_ path: String) -> String {
        var path = path
        for _ in 0..<mostLinks {
            guard let target = target(ofLink: path) else { break }
            path = FilePath(target).isAbsolute ? target : FilePath(path).directory + target
        }
        return path
    }

    /// As many as Linux follows.
    private static let mostLinks = 40
}
