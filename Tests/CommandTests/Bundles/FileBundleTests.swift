import MultipeerCore
import MultipeerCLI
import MultipeerCommandLine
import MultipeerTransport
import TestSupport
import Testing

@Suite("Command: small files as one resource", .computing)
struct FileBundleTests {
    private static let time = FileTime(seconds: -7, nanoseconds: 999_999_999)

    private struct File {
        var directory = "album"
        var name = "a"
        var bytes: [UInt8] = [1, 2, 3]
        var kind = FileBundle.Kind.file
    }

    private static func bundle(_ files: [File], from number: Int = 1) -> [UInt8] {
        var writer = FileBundleWriter()
        for (place, file) in files.enumerated() {
            writer.enter([FilePath(file.directory)])
            FileBundleWriter.put(
                number + place, file.kind, time, file.name, size: file.bytes.count, &writer.bytes)
            writer.bytes += file.bytes
        }
        return writer.bytes
    }

    @Test("what a sender writes is read again")
    func roundTrip() throws {
        let files = [
            File(), File(name: "run", bytes: [], kind: .program),
            File(directory: "album/2024/ä", name: "b c"),
            File(directory: "album/2024/ä", name: "empty", bytes: [], kind: .directory),
        ]
        let bytes = FileBundleTests.bundle(files, from: 99_997)
        let bundle = try FileBundle(reading: bytes)
        #expect(bundle.entries.map(\.number) == [99_997, 99_998, 99_999, 100_000])
        #expect(bundle.entries.map(\.kind) == files.map(\.kind))
        #expect(bundle.entries.map { Array(bytes[$0.contents]) } == files.map(\.bytes))
        #expect(bundle.entries.allSatisfy { $0.modified == FileBundleTests.time })
        for (entry, file) in zip(bundle.entries, files) {
            #expect(try entry.path.get() == RelativePath("\(file.directory)/\(file.name)"))
        }
    }

    @Test("a list has no bytes, and a bundle is not read as one")
    func list() throws {
        var writer = FileBundleWriter()
        writer.enter([FilePath("album")])
        FileBundleWriter.put(3, .file, FileBundleTests.time, "a", size: 5, &writer.bytes)
        let list = try FileBundle(reading: writer.bytes, isList: true)
        #expect(list.entries.map(\.size) == [5] && list.entries[0].contents.isEmpty)
        #expect(throws: FileBundle.Malformed.self) { try FileBundle(reading: writer.bytes) }
        #expect(throws: FileBundle.Malformed.self) {
            try FileBundle(reading: FileBundleTests.bundle([File()]), isList: true)
        }
    }

    @Test("a bundle that ends early, or goes on after its end, is refused whole")
    func ends() throws {
        let bytes = FileBundleTests.bundle([File(), File(directory: "album/d", name: "b")])
        let whole = Set([FileBundleTests.bundle([File()]).count, bytes.count])
        for count in 0..<bytes.count where !whole.contains(count) {
            #expect(throws: FileBundle.Malformed.self, "\(count)") {
                try FileBundle(reading: Array(bytes.prefix(count)))
            }
        }
        for byte in UInt8.min...UInt8.max {
            #expect(throws: FileBundle.Malformed.self) { try FileBundle(reading: bytes + [byte]) }
        }
    }

    @Test("numbers that repeat or go back, directories without files, and other kinds of records are refused")
    func order() {
        let one = FileBundleTests.bundle([File()])
        var directory = FileBundleWriter()
        directory.enter([FilePath("other")])
        var notAFile = one
        notAFile[8] = 9
        let bad: [[UInt8]] = [
            [], one + one, FileBundleTests.bundle([File()], from: 2) + one, directory.bytes,
            one + directory.bytes, directory.bytes + one, Array(one.dropFirst(8)), notAFile, [0], [5],
            FileBundleTests.bundle([File(bytes: [1], kind: .directory)]),
        ]
        for bytes in bad {
            #expect(throws: FileBundle.Malformed.self, "\(bytes)") { try FileBundle(reading: bytes) }
        }
    }

    @Test("sizes and counts that lie are refused before anything is allocated for them")
    func sizes() {
        let bytes = FileBundleTests.bundle([File()])
        for size in [4, 65_536, 65_537, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32] {
            var lying = bytes
            for place in 0..<4 {
                lying[bytes.count - 7 + place] = UInt8(truncatingIfNeeded: size >> UInt32(24 - 8 * place))
            }
            #expect(throws: FileBundle.Malformed.self) { try FileBundle(reading: lying) }
            let list = try? FileBundle(reading: Array(lying.dropLast(3)), isList: true)
            #expect((size <= 65_536) == (list != nil))
        }
        let most = (0..<FileBundle.mostFiles).map { File(name: "\($0)", bytes: []) }
        #expect(throws: Never.self) { try FileBundle(reading: FileBundleTests.bundle(most)) }
        #expect(throws: FileBundle.Malformed.self) {
            try FileBundle(reading: FileBundleTests.bundle(most + [File(bytes: [])]))
        }
    }

    @Test("a name that is not UTF-8 or a time that is none is refused")
    func fields() {
        var name = FileBundleTests.bundle([File(name: "a")])
        name[name.count - 8] = 0xFF
        var time = FileBundleTests.bundle([File()])
        for place in 21..<25 { time[place] = 0xFF }
        for bytes in [name, time] {
            #expect(throws: FileBundle.Malformed.self) { try FileBundle(reading: bytes) }
        }
    }

    @Test(
        "a path that leads elsewhere is refused for its file alone, by the rules for a single file [resource.label]",
        arguments: HostilePaths.all)
    func hostile(_ text: String, _ fault: RelativePath.Fault) throws {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.count > 1 ? parts.dropLast().joined(separator: "/") : "album"
        let name = String(parts.last ?? "")
        guard directory.utf8.count <= UInt16.max else { return }
        let entries = try FileBundle(
            reading: FileBundleTests.bundle([
                File(directory: directory, name: name), File(directory: "album", name: "b"),
            ])
        ).entries
        #expect(throws: RelativePath.Fault.self) { try entries[0].path.get() }
        #expect(try entries[1].path.get().text == "album/b")
    }
}

@Suite("Command: what the two ends say about bundles", .computing)
struct BundleMessageTests {
    @Test("a message is read as it was written")
    func roundTrip() {
        let digest = [UInt8](repeating: 7, count: 32)
        let many = Array(repeating: BundleVerdict.taken, count: 57)
        for message in [
            .policy(.none), .policy(.all), .policy(.ask), .compares,
            .comparison(
                7,
                [FileDigest(7, size: 1 << 40, sha256: digest), FileDigest(100_000, size: 0, sha256: digest)]),
            .compared(7, [.same, .same, .refused(.differs), .failed]),
            .question(BundlePosition(7, files: 10_000), list: [10, 0, 255]),
            .question(BundlePosition(1, files: 1), list: []),
            .answer(7, many + [.refused(.exists), .refused(.tooLarge)]),
            .result(
                100_000,
                [.noSpace, .failed, .refused(.badName), .refused(.repeated), .refused(.obstructed)]),
        ] as [BundleMessage] {
            #expect(BundleMessage(message: message.message) == message)
        }
        #expect(BundleMessage.policy(.ask).message == Array("files/1 bundles ask".utf8))
        #expect(
            BundleMessage.result(7, many + [.refused(.exists)]).message
                == Array("files/1 result 7 taken*57 exists".utf8))
    }

    @Test(
        "any other message is none of these",
        arguments: [
            "", "files/1", "files/1 ", "files/1 bundles", "files/1 bundles maybe", "files/1 bundles all ",
            "files/1 bundles all\n", "files/2 bundles all", "files/1 question 7/10", "files/1 question 0/1\n",
            "files/1 question 2/1\n", "files/1 question 7\n", "files/1 answer 7", "files/1 answer 7 ",
            "files/1 answer 0 taken", "files/1 answer 100001 taken", "files/1 answer x taken",
            "files/1 answer 7 taken*0", "files/1 answer 7 taken*-1", "files/1 answer 7 taken*",
            "files/1 answer 7 *2",
            "files/1 answer 7 taken*2*2", "files/1 answer 7 later", "files/1 answer 7 taken  taken",
            "files/1 answer 7 taken*1025", "files/1 answer 7 taken*1024 taken",
            "files/1 answer 7 taken*99999999999999999999", "files/1 result 7 renamed", "files/1 7 exists",
            "files/1 compares ", "files/1 compares 7", "files/1 compare 7", "files/1 compare 7\n",
            "files/1 compare 7\n\(String(repeating: "0", count: 44))", "files/1 compared 7",
            "files/1 later 7 taken",
        ])
    func foreign(_ text: String) { #expect(BundleMessage(message: Array(text.utf8)) == nil) }

    @Test("metadata of another form is not that of a bundle, and the other way round")
    func position() throws {
        let position = BundlePosition(7, files: 10_000)
        #expect(position.metadata == Array("bundle/1 7/10000".utf8))
        #expect(BundlePosition(metadata: position.metadata) == position)
        #expect(try SentFileDetails(metadata: position.metadata) == nil)
        for text in [
            "7/10", "bundle/1", "bundle/1 ", "bundle/1 0/1", "bundle/1 2/1", "bundle/2 1/1", "bundle/1 1/1 ",
        ] {
            #expect(BundlePosition(metadata: Array(text.utf8)) == nil, "\(text)")
        }
    }
}
