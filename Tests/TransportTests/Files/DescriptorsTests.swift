import Foundation
import Glibc
import MultipeerCore
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.6 Descriptors", .inTurns)
struct DescriptorsTests {
    /// One call that opens descriptors, and does not keep them.
    enum Kind: String, CaseIterable, Codable {
        case connecting, listening, datagrams, interfaces, loop, source, directory, file, entries, sink
        case resumed, new, read, replaced, spool, log, duplicate, pipe
    }

    @Test("whatever opens a descriptor leaves four to the rest of the process", arguments: Kind.allCases)
    func reserve(_ kind: Kind) async throws {
        await #expect(processExitsWith: .success) { [kind] in
            let folder = Folder()
            _ = try folder.make("file", [1])
            let open = try OpenDirectory(folder.path)
            // The port of a listener, and what the library opens once.
            let listener = try Socket.listening(on: SocketAddress(.loopbackV4, port: 0))
            let there = listener.localAddress
            let address = try #require(there)
            try DescriptorsTests.open(kind, in: folder, open, address)
            let names = folder.names
            DescriptorLimit.leave(4)
            do {
                try DescriptorsTests.open(kind, in: folder, open, address)
                exit(1)
            } catch let fault as SocketFault {
                if fault != .tooManyFiles { exit(2) }
            } catch let fault as FileFault {
                if fault.reason != .tooManyFiles || !"\(fault)".hasSuffix("too many open files") { exit(3) }
            }
            if folder.names != names { exit(4) }
            if DescriptorLimit.free != 4 { exit(5) }
            DescriptorLimit.leave(64)
            try DescriptorsTests.open(kind, in: folder, open, address)
            folder.removeAll()
            exit(0)
        }
    }

    @Test("files in one directory share its descriptor, and have one each")
    func onePerFile() async throws {
        await #expect(processExitsWith: .success) {
            let folder = Folder()
            DescriptorLimit.leave(64)
            var first = try FileSink(in: folder.path)
            if DescriptorLimit.free != 62 { exit(1) }
            let second = try FileSink(in: folder.path)
            let third = try OpenDirectory("\(folder.path)/.")
            let fourth = try third.directory("a", creating: true).directory("b", creating: true)
            // The directory between them is closed again.
            if DescriptorLimit.free != 60 { exit(2) }
            let fifth = try OpenDirectory("\(folder.path)/a/b")
            if DescriptorLimit.free != 60 { exit(3) }
            if fourth.entry("c") != nil || fifth.entry("c") != nil { exit(6) }
            // A file that has arrived keeps its lock until it has its name; without another descriptor, the first one has it.
            DescriptorLimit.leave(4)
            try first.write([[1, 2, 3]])
            try first.close()
            first.keep()
            if DescriptorLimit.free != 4 { exit(4) }
            if try Data(contentsOf: URL(fileURLWithPath: first.path)) != Data([1, 2, 3]) { exit(5) }
            _ = second.path
            folder.removeAll()
            exit(0)
        }
    }

    @Test("another directory of the same path is not the one that is open")
    func replacedDirectory() throws {
        let folder = Folder()
        let first = try OpenDirectory(folder.path).directory("a", creating: true)
        try FileManager.default.removeItem(atPath: folder.path("a"))
        let second = try OpenDirectory(folder.path).directory("a", creating: true)
        _ = try second.create("file", [1], as: NewFile())
        #expect(first.entry("file") == nil)
        #expect(folder.names == ["a"])
    }

    private static func open(
        _ kind: Kind, in folder: Folder, _ open: OpenDirectory, _ address: SocketAddress
    ) throws {
        switch kind {
        case .connecting: _ = try Socket.connecting(to: address)
        case .listening: _ = try Socket.listening(on: SocketAddress(.loopbackV4, port: 0))
        case .datagrams: _ = try DatagramSocket.bound(to: SocketAddress(.loopbackV4, port: 0))
        case .interfaces: _ = try InterfaceMonitors.open()
        case .loop: try EventLoop().shutdown()
        case .source: _ = try FileSource(folder.path("file"))
        case .directory: _ = try OpenDirectory("/proc/self")
        case .file: _ = try open.file("file")
        case .entries: _ = try open.entries()
        case .sink: _ = try FileSink(in: folder.path)
        case .resumed:
            let part = UnfinishedFile(
                label: "a", from: UID(high: 1, low: 1), with: .repeating(1), named: "a", size: 9)
            _ = try FileSink(in: folder.path, size: 9, unfinished: part)
        case .new:
            _ = try open.create("new", [1], as: NewFile())
            try open.remove("new")
        case .read: _ = try PrivateFile.read(folder.path("file"), limit: 9)
        case .replaced: try PrivateFile.replace(folder.path("file"), with: [2])
        case .spool: _ = try Spool()
        case .log: _ = try KeyLogFile(folder.path("file"))
        case .duplicate: _ = try FileSink(to: 2)
        case .pipe:
            guard let ends = Descriptors.pipe() else {
                throw errno == EMFILE ? SocketFault.tooManyFiles : SocketFault.other(errno)
            }
            for end in [ends.reading, ends.writing] { close(end) }
        }
    }
}

extension OpenDirectory {
    fileprivate func directory(_ name: String, creating: Bool) throws -> OpenDirectory {
        if creating { _ = try create(name) }
        return try directory(name)
    }
}

extension Folder {
    /// Removes it, in a process that ends without doing so.
    fileprivate func removeAll() { try? FileManager.default.removeItem(atPath: path) }
}
