import Foundation

/// The files of this repository, found from where this source file lies.
enum Repository {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A file's text with its path from the root.
    struct File {
        let path: String
        let text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    static func data(_ path: String) throws -> Data {
        try Data(contentsOf: root.appending(path: path))
    }

    static func file(_ path: String) throws -> File {
        File(path: path, text: String(decoding: try data(path), as: UTF8.self))
    }

    /// Returns every text file under `folder` for whose name `matches` returns true, sorted by path; none if there is no
    /// folder.
    static func files(under folder: String, where matches: (String) -> Bool) throws -> [File] {
        guard exists(folder) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { matches($0) && !isFolder("\(folder)/\($0)") }
            .sorted()
            .map { try file("\(folder)/\($0)") }
    }

    /// The names of the folders directly under `folder`, sorted.
    static func folders(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { isFolder("\(folder)/\($0)") }
            .sorted()
    }

    private static func isFolder(_ path: String) -> Bool {
        let values = try? root.appending(path: path).resourceValues(forKeys: [.isDirectoryKey])
        return values?.isDirectory ?? false
    }
}
