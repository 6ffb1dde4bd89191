import Foundation
import Testing

/// A process that sends files and one that receives them in a directory of its own.
struct TransferProcesses {
    let folder: Folder
    let sender: Command
    let receiver: Command

    init(
        _ files: [String], in folder: Folder, send: [String] = [], receive: [String] = [],
        isKept: Bool = false, receiverThrough wrapper: [String] = []
    ) throws {
        self.folder = folder
        if !isKept {
            try FileManager.default.createDirectory(
                atPath: folder.path("inbox"), withIntermediateDirectories: true)
        }
        sender = try Command(
            ["send", "--unverified"] + files + TransferProcesses.options("ann", "bob", folder) + send)
        receiver = try Command(
            ["receive", "--into", folder.path("inbox")] + TransferProcesses.options("bob", "ann", folder)
                + receive, through: wrapper)
    }

    static func options(_ name: String, _ other: String, _ folder: Folder) -> [String] {
        [
            "--name", name, "--listen", "127.0.0.1", "--timeout", "20", "--out", folder.path("\(name).data"),
            "--from",
            folder.path("\(other).data"),
        ]
    }

    /// Waits for both to end.
    func finish(input: [UInt8]? = []) async throws -> (sender: Command.Ending, receiver: Command.Ending) {
        async let first = sender.finish(input)
        async let second = receiver.finish()
        return try await (first, second)
    }

    /// Waits until a part of a file has been written.
    func isUnderWay() async throws {
        let path = folder.path("inbox")
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                let facts = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
                if let size = facts?[.size] as? Int, size > 0 { return }
            }
            await Task.yield()
        }
        Issue.record("nothing arrived")
    }

    var inbox: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox")).sorted() }
    }

    func received(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: folder.path("inbox/\(name)"))))
    }
}

extension Folder {
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// Creates a sparse file of that many bytes.
    func sparse(_ count: UInt64, to name: String) throws -> String {
        try Data().write(to: URL(filePath: path(name)))
        try FileHandle(forWritingTo: URL(filePath: path(name))).truncate(atOffset: count)
        return path(name)
    }
}
