import Foundation
import MultipeerCLI
import MultipeerCommandLine
import MultipeerTransport
import TestSupport
import Testing

@Suite("9 Command: the place of a received file", .computing)
struct DownloadDirectoryTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func downloads(_ isForced: Bool = false) throws -> DownloadDirectory {
        try DownloadDirectory(folder.path("").trimmingTail, existing: isForced ? .overwrite : nil)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    @Test("a free name is used, and the temporary file is gone")
    func free() throws {
        let draft = try folder.write("new", to: "draft")
        #expect(try downloads().obstacle(to: "a.txt") == nil)
        #expect(try downloads().settle(draft, as: "a.txt") == folder.path("a.txt"))
        #expect(try text("a.txt") == "new")
        #expect(!folder.exists("draft"))
    }

    @Test("a name that was taken meanwhile is left alone, and the file gets a number")
    func taken() throws {
        _ = try folder.write("old", to: "a.txt")
        _ = try folder.write("older", to: "a~1.txt")
        let draft = try folder.write("new", to: "draft")
        #expect(try downloads().obstacle(to: "a.txt") == "already exists")
        #expect(try downloads().settle(draft, as: "a.txt") == folder.path("a~2.txt"))
        #expect(try ["a.txt", "a~1.txt", "a~2.txt"].map(text) == ["old", "older", "new"])
    }

    @Test("a symbolic link is not followed, wherever it leads", arguments: [true, false])
    func link(_ isForced: Bool) throws {
        let target = try folder.write("secret", to: "target")
        for (name, path) in [("good", target), ("dangling", folder.path("nowhere"))] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(name), withDestinationPath: path)
            let draft = try folder.write("new", to: "draft")
            let downloads = try downloads(isForced)
            #expect(downloads.obstacle(to: name) == (isForced ? nil : "already exists"))
            #expect(try downloads.settle(draft, as: name) == folder.path(isForced ? name : "\(name)~1"))
        }
        #expect(try text("target") == "secret")
        #expect(!folder.exists("nowhere"))
    }

    @Test("--force replaces files, never directories")
    func force() throws {
        _ = try folder.write("old", to: "a")
        let draft = try folder.write("new", to: "draft")
        #expect(try downloads(true).settle(draft, as: "a") == folder.path("a"))
        #expect(try text("a") == "new")
        try FileManager.default.createDirectory(atPath: folder.path("d"), withIntermediateDirectories: false)
        #expect(try downloads(true).obstacle(to: "d") == "a directory with this name exists")
        let other = try folder.write("x", to: "draft")
        #expect(throws: FileFault.self) { try downloads(true).settle(other, as: "d") }
    }

    @Test("a path that is not a directory is refused before anything else")
    func directory() throws {
        let path = try folder.write("", to: "file")
        #expect(throws: CommandError("\(path) is not a directory", exit: .system)) {
            try DownloadDirectory(path)
        }
        #expect(throws: CommandError.self) {
            try DownloadDirectory(folder.path("nowhere/at all"))
        }
        let created = try DownloadDirectory(folder.path("inbox"))
        #expect(created.directory == folder.path("inbox") && folder.exists("inbox"))
    }
}

extension String {
    fileprivate var trimmingTail: String { hasSuffix("/") ? String(dropLast()) : self }
}
