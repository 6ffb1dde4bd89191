import Foundation
import TestSupport
import Testing

/// The corpus as a text: what is in it, and what the documentation says of it.
@Suite("Idioms of applications", .computing)
struct IdiomCorpusTests {
    private static let kinds: [IdiomFile.Kind] = [
        .anyMode, .swift5, .swift6, .mainActorByDefault, .withFlags, .withDiagnostics,
    ]
    private let idioms: [Idiom]

    init() throws { idioms = try Self.kinds.flatMap { try IdiomFile.all($0) }.flatMap(\.idioms) }

    @Test("there are at least 150 idioms, each with a title and a mode of its own")
    func count() throws {
        #expect(idioms.count >= 150)
        let titles = idioms.map { "\($0.title), \($0.mode)" }
        #expect(Set(titles).count == titles.count)
        #expect(idioms.allSatisfy { !$0.title.isEmpty && !$0.mode.isEmpty && !$0.title.contains("|") })
        for kind in Self.kinds { #expect(try !IdiomFile.all(kind).isEmpty, "\(kind)") }
    }

    @Test("an idiom has 3 to 25 lines, and up to 40 if it shows a second way to write it")
    func length() {
        for idiom in idioms {
            #expect((3...(idiom.instead == nil ? 25 : 40)).contains(idiom.length), "\(idiom.title)")
        }
    }

    @Test("an idiom with a diagnostic says why, and what to write instead, and no other does")
    func advice() {
        for idiom in idioms {
            let isFlawed = idiom.severity != nil
            #expect((idiom.why != nil) == isFlawed && (idiom.instead != nil) == isFlawed, "\(idiom.title)")
        }
        #expect(idioms.filter { $0.severity == .error }.count >= 30)
    }

    @Test(
        "the documentation has a row for every idiom, with its mode and its result, and no other")
    func documented() throws {
        let article = Self.package.appending(
            path: "Sources/MultipeerConnectivity/MultipeerConnectivity.docc/Idioms.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        let rows = lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| idiom |") }
        #expect(Set(rows).count == rows.count)
        let wanted = Set(idioms.map(\.row))
        for row in wanted.subtracting(rows).sorted() { Issue.record("add to Idioms.md: \(row)") }
        for row in Set(rows).subtracting(wanted).sorted() { Issue.record("remove from Idioms.md: \(row)") }
    }

    @Test(
        "the build compiles the folders that need no flags of their own",
        arguments: ["AnyMode", "Swift5", "Swift6", "MainActorByDefault"])
    func targets(_ folder: String) throws {
        let manifest = try String(contentsOf: Self.package.appending(path: "Package.swift"), encoding: .utf8)
        #expect(manifest.contains("\"\(folder)\""))
    }

    private static let package = IdiomFile.root.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
