import Foundation

/// A folder of one case, which is removed with it.
struct TemporaryFolder {
    let path: String

    init(_ caseRun: CaseRun) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "conform-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        caseRun.files.append(path)
    }

    /// The paths of all files in it, those in folders too.
    var files: [String] {
        let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return all.filter { !isFolder($0) }
    }

    private func isFolder(_ name: String) -> Bool {
        var isFolder: ObjCBool = false
        let exists = unsafe FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder)
        return exists && isFolder.boolValue
    }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        return "\(path)/\(name)"
    }

    /// Returns whether nothing of a file is left, now or soon.
    func isEmpty(within duration: Duration, in caseRun: CaseRun) -> Bool {
        caseRun.loop.wait(duration) { files.isEmpty }
    }
}

/// The properties of a file on disk.
struct FileMetadata {
    let bytes: [UInt8]
    let mode: UInt32
    let isLink: Bool

    init(_ path: String) throws {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw CaseFailure("no file '\(path)'") }
        mode = status.st_mode & 0o777
        isLink = status.st_mode & S_IFMT == S_IFLNK
        bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
