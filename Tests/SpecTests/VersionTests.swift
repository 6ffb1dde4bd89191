import MultipeerCore
import TestSupport
import Testing

/// The version is written in one place; where people have to repeat it, it is the same.
@Suite("1 Version", .computing)
struct VersionTests {
    @Test("the version has three numbers")
    func form() {
        #expect(LibraryVersion.text.wholeMatch(of: /(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)/) != nil)
    }

    @Test("the changelog begins with it, unreleased or with a date")
    func changelog() throws {
        let headings = try Repository.file("CHANGELOG.md").lines.filter { $0.hasPrefix("## ") }
        let first = try #require(headings.first)
        let match = try #require(first.wholeMatch(of: /## (\d+\.\d+\.\d+), (unreleased|\d{4}-\d\d-\d\d)/))
        #expect(String(match.1) == LibraryVersion.text)
        #expect(headings.dropFirst().allSatisfy { !$0.contains("unreleased") })
    }

    @Test("every `from:` of a document names it")
    func requirements() throws {
        let documents =
            try [Repository.file("README.md")]
            + Repository.files(under: "Sources") { $0.hasSuffix(".md") }
            + Repository.files(under: "Examples") { $0.hasSuffix(".md") || $0.hasSuffix("Package.swift") }
        let lines = documents.flatMap { file in file.lines.map { (path: file.path, line: $0) } }
        let requirements = lines.filter { $0.line.contains("swift-multipeer") && $0.line.contains("from:") }
        #expect(!requirements.isEmpty)
        for (path, line) in requirements {
            #expect(line.contains("from: \"\(LibraryVersion.text)\""), "\(path): \(line)")
        }
    }

    @Test("the scripts that make packages find it")
    func scripts() throws {
        let source = try Repository.file("Sources/MultipeerCore/LibraryVersion.swift")
        // The pattern of `.packaging/version`.
        let found = source.lines.compactMap { $0.wholeMatch(of: #/ *package static let text = "([0-9.]*)"/#) }
        #expect(found.map { String($0.1) } == [LibraryVersion.text])
    }
}
