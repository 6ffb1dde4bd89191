import Glibc
import MultipeerCore
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.6 What is kept of a file whose transfer broke", .inTurns)
struct UnfinishedFileTests {
    private let folder = Folder()
    private static let peer = UID(high: 1, low: 2)

    private func unfinished(
        _ label: String = "photo.jpg", from peer: UID = UnfinishedFileTests.peer,
        with fingerprint: Fingerprint = .repeating(1), size: UInt64 = 10, key: [UInt8] = [],
        lifetime: Duration = .seconds(100)
    ) -> UnfinishedFile {
        UnfinishedFile(
            label: label, from: peer, with: fingerprint, named: "photo.jpg", size: size, key: key,
            lifetime: lifetime)
    }

    private func sink(_ file: UnfinishedFile? = nil, size: UInt64 = 10) throws -> FileSink {
        try FileSink(in: folder.path, size: size, unfinished: file ?? unfinished())
    }

    /// Leaves a part with these bytes, as a killed process or a lost link does.
    @discardableResult
    private func leave(_ bytes: [UInt8], _ file: UnfinishedFile? = nil, age: Int = 0) throws -> String {
        let file = file ?? unfinished()
        let descriptor = unsafe open(folder.path(file.name), O_WRONLY | O_CREAT | O_EXCL, 0o600)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        let moment = timespec(tv_sec: time(nil) &- age, tv_nsec: 0)
        var times = [moment, moment]
        unsafe futimens(descriptor, &times)
        close(descriptor)
        return file.name
    }

    @Test("a part with an absurd time is old, and removed")
    func absurdTime() throws {
        let name = try leave([1, 2, 3], age: .min)
        PartialFile.sweep(folder.path)
        #expect(unsafe access(folder.path(name), F_OK) != 0)
    }

    @Test(
        "the names of parts are known whatever the label ends with",
        arguments: ["a", "", "a\u{0D4E}", "a\u{0600}", "👩\u{200D}"])
    func known(_ label: String) {
        #expect(PartialFile.isReserved(unfinished(label).name))
        #expect(!PartialFile.isReserved("\(label).0123456789abcdeg.multipeer-part"))
    }

    @Test(
        "the name shows the file and that it is a part, and depends on sender, its key and size [resource.partial]"
    )
    func names() {
        let name = unfinished().name
        #expect(name.hasPrefix("photo.jpg.") && name.hasSuffix(".multipeer-part"))
        #expect(name.utf8.count == "photo.jpg.".utf8.count + 16 + ".multipeer-part".utf8.count)
        let others = [
            unfinished(from: UID(high: 1, low: 3)), unfinished(with: .repeating(2)), unfinished(size: 11),
            unfinished(key: [1]),
        ]
        #expect(Set(others.map(\.name) + [name]).count == 5)
        #expect(unfinished().name == name)
        let longest = String(repeating: "x", count: UnfinishedFile.longestLabel)
        #expect(unfinished(longest).name.utf8.count == 255)
    }

    @Test(
        "a part that is kept is found again, with its bytes, and is private [resource.partial] [resource.private]"
    )
    func found() throws {
        do {
            var first = try sink()
            #expect(first.count == 0)
            try first.write([[1, 2], [3]])
            first.keepUnfinished(for: .seconds(100))
        }
        #expect(folder.names == [unfinished().name])
        var status = stat()
        _ = unsafe stat(folder.path(unfinished().name), &status)
        #expect(status.st_mode == S_IFREG | 0o600)
        // A process that another test has just forked holds the lock, too, until it runs its own program.
        var second = try sink()
        let deadline = ContinuousClock.now + .seconds(10)
        while second.count == 0, ContinuousClock.now < deadline { second = try sink() }
        #expect(second.count == 3)
        #expect(try second.read(at: 1, 2) == [2, 3])
        try second.write([[4]])
        try second.close()
        let path = try PartialFile.complete(second.path)
        second.keep()
        #expect(try PrivateFile.read(path, limit: 9) == [1, 2, 3, 4])
        #expect(!path.hasSuffix(UnfinishedFile.ending) && folder.names.count == 1)
    }

    @Test("a part that ends in zeros is kept with them, and what follows comes after them [resource.partial]")
    func zeros() throws {
        let zeros = [UInt8](repeating: 0, count: 16_376)
        let size = UInt64(zeros.count) + 2
        let file = unfinished(size: size)
        do {
            var first = try sink(file, size: size)
            try first.write([[1], zeros])
            first.keepUnfinished(for: .seconds(100))
        }
        // As above.
        var second = try sink(file, size: size)
        let deadline = ContinuousClock.now + .seconds(10)
        while second.count == 0, ContinuousClock.now < deadline { second = try sink(file, size: size) }
        #expect(second.count == size - 1)
        try second.write([[2]])
        try second.close()
        #expect(try PrivateFile.read(second.path, limit: 20_000) == [1] + zeros + [2])
    }

    @Test("one that is not kept is removed, and so is one without a byte [resource.cancel]")
    func removed() throws {
        do {
            var sink = try sink()
            try sink.write([[1]])
        }
        #expect(folder.names == [])
        do {
            var empty = try sink()
            empty.keepUnfinished(for: .seconds(100))
        }
        #expect(folder.names == [])
    }

    @Test("what is cleared begins again")
    func cleared() throws {
        try leave([9, 9, 9])
        var sink = try sink()
        try sink.clear()
        #expect(sink.count == 0)
        try sink.write([[1]])
        try sink.close()
        #expect(try PrivateFile.read(sink.path, limit: 9) == [1])
    }

    enum Obstacle: CaseIterable {
        case symbolicLink, hardLink, directory, pipe, othersMayRead, othersMayWrite
    }

    @Test(
        "what is no private file of its own is neither used, nor followed, nor removed [resource.private]",
        arguments: Obstacle.allCases)
    func obstacles(_ obstacle: Obstacle) throws {
        let path = folder.path(unfinished().name)
        let victim = try folder.make("victim", [7, 7])
        switch obstacle {
        case .symbolicLink: unsafe symlink(victim, path)
        case .hardLink: unsafe link(victim, path)
        case .directory: unsafe mkdir(path, 0o700)
        case .pipe: unsafe mkfifo(path, 0o600)
        case .othersMayRead, .othersMayWrite:
            try leave([1, 2])
            unsafe chmod(path, obstacle == .othersMayRead ? 0o644 : 0o602)
        }
        do {
            var sink = try sink()
            #expect(sink.count == 0 && sink.path != path)
            try sink.write([[1]])
            // Nothing finds its random name again.
            sink.keepUnfinished(for: .seconds(100))
        }
        PartialFile.sweep(folder.path)
        #expect(folder.names == [unfinished().name, "victim"].sorted())
        #expect(try PrivateFile.read(victim, limit: 9) == [7, 7])
    }

    @Test("the directory for parts may have got its group, and the bit that says so, from the one above")
    func groupOfParent() throws {
        let parent = Folder()
        unsafe chmod(parent.path, 0o2700)
        let sessions = ResourceFolder(in: parent.path)
        let path = try sessions.path()
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o2700)
        #expect(try sessions.path() == path)
    }

    @Test("one that another transfer is receiving is not used")
    func inUse() throws {
        var first = try sink()
        try first.write([[1]])
        let second = try sink()
        #expect(second.count == 0 && second.path != first.path)
        PartialFile.sweep(folder.path, keeping: .zero)
        #expect(folder.names.count == 2)
    }

    @Test("one that is older than it may be, or longer than the file, is replaced [resource.partial]")
    func unusable() throws {
        try leave([1], age: 101)
        #expect(try sink().count == 0)
        try leave([1], age: 90)
        #expect(try sink().count == 1)
        try leave([UInt8](repeating: 1, count: 11))
        #expect(try sink().count == 0)
        try leave([UInt8](repeating: 1, count: 10))
        #expect(try sink().count == 10)
    }

    @Test("a sweep removes old ones, and the oldest of too many, and nothing else [resource.partial]")
    func swept() throws {
        try leave([1], unfinished("old"), age: 8 * 86_400)
        try leave([1], unfinished("young"), age: 6 * 86_400)
        for name in [
            "notes.multipeer-part", "a.0123456789abcdeg.multipeer-part", "b0123456789abcdef.multipeer-part",
        ] {
            _ = try folder.make(name, [1])
        }
        PartialFile.sweep(folder.path)
        #expect(folder.names.count == 4 && folder.names.contains(unfinished("young").name))
        for number in 0..<40 { try leave([1], unfinished("many-\(number)"), age: number) }
        do {
            var sink = try sink()
            try sink.write([[1]])
            sink.keepUnfinished(for: .seconds(86_400))
        }
        #expect(folder.names.count == 3 + 32)
        #expect(folder.names.contains(unfinished().name) && folder.names.contains(unfinished("many-30").name))
        #expect(!folder.names.contains(unfinished("many-31").name))
    }

    @Test("small parts do not push out a large one that is older [resource.partial]")
    func pushedOut() throws {
        try leave([UInt8](repeating: 1, count: 100), unfinished("large"), age: 6 * 86_400)
        for number in 0..<40 { try leave([1], unfinished("small-\(number)"), age: number) }
        PartialFile.sweep(folder.path)
        #expect(folder.names.count == 32 && folder.names.contains(unfinished("large").name))
    }

    @Test("parts that are too large together make room for the newest [resource.partial]")
    func large() throws {
        for (number, size) in [(1, 10), (2, 6), (3, 1)] {
            let name = try leave([1], unfinished("\(number)"), age: number)
            // A sparse file.
            unsafe truncate(folder.path(name), off_t(size) << 30)
            let moment = timespec(tv_sec: time(nil) - number, tv_nsec: 0)
            var times = [moment, moment]
            unsafe utimensat(AT_FDCWD, folder.path(name), &times, 0)
        }
        PartialFile.sweep(folder.path)
        #expect(folder.names == [unfinished("1").name, unfinished("2").name])
    }

    @Test("only the space for what is missing has to be free [resource.space]")
    func space() throws {
        var status = statvfs()
        unsafe statvfs(folder.path, &status)
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        let size = free + (1 << 30)
        let file = unfinished(size: size)
        #expect(throws: FileFault(.noSpace, path: folder.path)) { _ = try sink(file, size: size) }
        #expect(folder.names == [])
        try leave([1], file)
        // It takes no space, but the check does not know that.
        unsafe truncate(folder.path(file.name), 2 << 30)
        #expect(try sink(file, size: size).count == 2 << 30)
    }

    @Test("a part that was replaced while it was received gets no final name [resource.private]")
    func replaced() throws {
        let victim = try folder.make("victim", [7])
        var sink = try sink()
        try sink.write([[1]])
        unsafe unlink(sink.path)
        unsafe symlink(victim, sink.path)
        let path = sink.path
        #expect(throws: FileFault(.notFound, path: path)) { try sink.close() }
        #expect(try PrivateFile.read(victim, limit: 9) == [7])
    }
}

extension Fingerprint {
    static func repeating(_ byte: UInt8) -> Fingerprint {
        guard let fingerprint = Fingerprint([UInt8](repeating: byte, count: byteCount)) else {
            preconditionFailure("a fingerprint has that many bytes")
        }
        return fingerprint
    }
}
