import Foundation
import MultipeerCLI
import MultipeerCommandLine
import MultipeerTransport
import TestSupport
import Testing

@Suite("Command: small files that are sent together", .computing)
struct SentBundleTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
        for name in ["album/sub", "album/empty"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(name), withIntermediateDirectories: true)
        }
    }

    private func bundles(_ units: [TransferUnit]) -> [SentBundle] {
        units.compactMap { unit in if case .bundle(let bundle) = unit { bundle } else { nil } }
    }

    private func contents(_ bundle: SentBundle) throws -> (SentBundle.Contents, [FileBundle.Entry]) {
        let contents = bundle.contents(of: bundle.files, withDigests: true)
        return (contents, try FileBundle(reading: contents.bytes).entries)
    }

    @Test("small files of a directory are planned together, and larger ones alone")
    func plan() throws {
        for index in 0..<20 { _ = try folder.write("\(index)", to: "album/f\(index)") }
        _ = try folder.write([UInt8](repeating: 1, count: FileBundle.largestFile + 1), to: "album/f10large")
        _ = try folder.write("alone", to: "single")
        let sources =
            try TransferSource.all(folder.path("album"), as: nil)
            + TransferSource.all(folder.path("single"), as: nil)
        #expect(TransferUnit.wantsBundles(sources))
        let units = TransferUnit.plan(sources)
        let bundle = try #require(bundles(units).first)
        #expect(units.count == 3 && bundle.files.count == 22)
        let alone = units.compactMap { unit in
            if case .file(let place) = unit { sources[place].label } else { nil }
        }
        #expect(alone == ["f10large", "single"])
        #expect(bundle.files.map(\.number) == (1...23).filter { sources[$0 - 1].label != "f10large" })
        let (found, entries) = try contents(bundle)
        #expect(entries.map(\.number) == bundle.files.map(\.number) && found.files.count == 22)
        #expect(entries[0].kind == .directory && found.files[1].digest?.count == 32)
        #expect(!TransferUnit.wantsBundles(Array(sources.prefix(TransferUnit.fewest - 1))))
    }

    @Test("no bundle has more bytes or files than a bundle may have")
    func limits() throws {
        for index in 0..<12 {
            _ = try folder.write([UInt8](repeating: 7, count: FileBundle.largestFile), to: "album/f\(index)")
        }
        let sources = try TransferSource.all(folder.path("album"), as: nil)
        let all = bundles(TransferUnit.plan(sources))
        #expect(all.count == 2 && all.map(\.number) == [1, 2])
        for bundle in all {
            let (found, entries) = try contents(bundle)
            #expect(found.bytes.count <= FileBundle.longest && entries.count == bundle.files.count)
        }
    }

    @Test("files that vanish, turn into links, or grow after they were listed are not in the bundle")
    func changes() throws {
        for name in ["a", "gone", "link", "grown", "sub/b"] {
            _ = try folder.write(name, to: "album/\(name)")
        }
        let sources = try TransferSource.all(folder.path("album"), as: nil)
        let bundle = try #require(bundles(TransferUnit.plan(sources)).first)
        let files = FileManager.default
        try files.removeItem(atPath: folder.path("album/gone"))
        try files.removeItem(atPath: folder.path("album/link"))
        try files.createSymbolicLink(atPath: folder.path("album/link"), withDestinationPath: "/etc/passwd")
        _ = try folder.sparse(UInt64(FileBundle.largestFile) + 1, to: "album/grown")
        _ = try folder.write("longer", to: "album/a")
        try files.removeItem(atPath: folder.path("album/sub"))
        try files.createSymbolicLink(
            atPath: folder.path("album/sub"), withDestinationPath: folder.path("album"))
        let (found, entries) = try contents(bundle)
        #expect(entries.map(\.name) == ["a", "empty"] && entries[0].size == 6)
        #expect(found.files.map(\.number) == entries.map(\.number))
        #expect(found.failures.map { sources[$0.number - 1].label } == ["gone", "link", "b"])
        #expect(found.grown.map { sources[$0 - 1].label } == ["grown"])
    }

    @Test(
        "files that grow after they were listed leave the room of those after them, and are else sent alone")
    func growth() throws {
        for index in 10..<30 { _ = try folder.write("\(index)", to: "album/f\(index)") }
        let sources = try TransferSource.all(folder.path("album"), as: nil)
        let bundle = try #require(bundles(TransferUnit.plan(sources)).first)
        for index in 10..<18 {
            _ = try folder.write([UInt8](repeating: 7, count: FileBundle.largestFile), to: "album/f\(index)")
        }
        let (found, entries) = try contents(bundle)
        #expect(found.bytes.count <= FileBundle.longest && entries.count == bundle.files.count - 1)
        #expect(found.grown.map { sources[$0 - 1].label } == ["f17"] && found.failures.isEmpty)
    }

    @Test("what the receiver is asked about is what is in the bundle then")
    func list() throws {
        for name in ["a", "b"] { _ = try folder.write(name, to: "album/\(name)") }
        let sources = try TransferSource.all(folder.path("album"), as: nil)
        let bundle = try #require(bundles(TransferUnit.plan(sources)).first)
        let list = try FileBundle(reading: bundle.list, isList: true)
        let (_, entries) = try contents(bundle)
        #expect(list.entries.map(\.number) == entries.map(\.number))
        #expect(list.entries.map(\.size) == entries.map(\.size))
    }

    @Test("bundles on their way hold no more than 2 MiB together, and a large file none up")
    func window() {
        var window = TransferWindow()
        var count = 0
        while window.beginBundle() { count += 1 }
        #expect(count >= 2 && count * FileBundle.longest <= 2 << 20)
        #expect(window.begin(1 << 40) == false)
        window.endBundle()
        #expect(window.beginBundle() && !window.beginBundle())
        for _ in 0..<count { window.endBundle() }
        #expect(window.isEmpty && window.begin(1 << 40))
    }
}
