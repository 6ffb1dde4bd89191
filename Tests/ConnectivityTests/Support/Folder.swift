import Foundation
import MultipeerTransport
import Testing

/// A directory for one test, removed with everything in it.
final class Folder: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("test-\(RandomName.make())", isDirectory: true)
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            Issue.record(error)
        }
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch { Issue.record(error) }
    }

    func file(_ bytes: [UInt8], _ name: String = "file") throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file
    }

    /// Creates a sparse file of a gibibyte: its transfer outlasts any test.
    func endless(_ name: String = "endless", beginning: String = "\u{1}") throws -> URL {
        let file = try file(Array(beginning.utf8), name)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1 << 30)
        try handle.close()
        return file
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: url.appendingPathComponent(name)))
    }

    /// Moves a file here, as a delegate does.
    func keep(_ file: URL, as name: String) {
        do {
            try FileManager.default.moveItem(at: file, to: url.appendingPathComponent(name))
        } catch {
            Issue.record(error)
        }
    }
}
