import Foundation
import TestSupport
import Testing

/// The documentation contains nothing that is not compiled or tested.
@Suite("1 Documentation", .computing)
struct DocumentationTests {
    private let catalogue = "Sources/MultipeerConnectivity/MultipeerConnectivity.docc"
    private let tutorials = "Sources/MultipeerActors/MultipeerActors.docc"

    /// Returns the files of `Snippets`, and the ports of `Examples`, which are compiled with the tests, without the markers of
    /// what is shown.
    private func compiled() throws -> [[Substring]] {
        let snippets = try Repository.files(under: "Snippets", where: { $0.hasSuffix(".swift") })
        let ports = try Repository.files(
            under: "Examples/Ports", where: { $0.hasSuffix(".swift") && $0.contains("/After/") })
        return (snippets + ports).flatMap { file in
            let lines = file.lines.map(trimmed)
            var isShown = true
            let shown = lines.filter { line in
                if line.hasPrefix("// snippet.") { isShown = line == "// snippet.show" }
                return isShown
            }
            return [lines, shown].map { $0.filter { !$0.hasPrefix("// snippet.") } }
        }
    }

    @Test(
        "every sample of code in the articles of all libraries, and in the README, is part of a file that is compiled"
    )
    func samples() throws {
        let compiled = try compiled()
        var count = 0
        let articles = try Repository.files(
            under: "Sources", where: { $0.contains(".docc/") && $0.hasSuffix(".md") })
        #expect(Set(articles.map { $0.path.split(separator: "/")[1] }).count >= 3)
        for article in articles + [try Repository.file("README.md")] {
            for sample in samples(in: article.lines) {
                count += 1
                #expect(
                    compiled.contains { $0.contains(sample) }, "\(article.path): \(sample.first ?? "")")
            }
        }
        #expect(count > 20)
    }

    @Test("every sample of code in the comments of the libraries is part of a file that is compiled")
    func comments() throws {
        let compiled = try compiled().map { $0.map(spaced) }
        var count = 0
        for file in try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") }) {
            let comments = file.lines.map(trimmed).map { $0.hasPrefix("///") ? trimmed($0.dropFirst(3)) : "" }
            for sample in samples(in: comments) {
                count += 1
                #expect(
                    compiled.contains { $0.contains(sample.map(spaced)) },
                    "\(file.path): \(sample.first ?? "")")
            }
        }
        #expect(count > 10)
    }

    @Test("every step of a tutorial shows a file that is compiled, and every file for a tutorial is shown")
    func steps() throws {
        var shown: Set<String> = []
        for tutorial in try Repository.files(under: tutorials, where: { $0.hasSuffix(".tutorial") }) {
            for match in tutorial.text.matches(of: /[fF]ile: ([\w.]+)/) { shown.insert(String(match.1)) }
        }
        #expect(shown.remove("SkyPackage.swift") != nil)
        let steps = try Repository.files(under: "Snippets", where: { $0.hasPrefix("SkyStep") })
        #expect(shown == Set(steps.map { $0.path.replacing("Snippets/", with: "") }))
        #expect(shown.count > 4)
    }

    @Test("the manifest of the tutorial is valid, and names existing products")
    func manifest() throws {
        let path = "Examples/Tutorial/SkyPackage.swift"
        let products = try Repository.file(path).text.matches(of: /\.product\(name: "(\w+)"/).map(\.1)
        let package = try Repository.file("Package.swift").text
        #expect(products.count == 2)
        for product in products { #expect(package.contains(".library(name: \"\(product)\"")) }
        let interface = try #require(try resources()?.appending(path: "pm/ManifestAPI").path)
        let file = Repository.root.appending(path: path).path
        let words = ["swiftc", "-typecheck", "-package-description-version", "6.2.0", "-I", interface, file]
        #expect(try run(words).code == 0)
    }

    @Test("the command at the beginning of the tutorial creates a manifest and nothing else")
    func empty() throws {
        let tutorial = try Repository.file("\(tutorials)/Sky.tutorial").text
        let command = try #require(tutorial.firstMatch(of: /`(swift package init [^`]+)`/)?.1)
        let folder = FileManager.default.temporaryDirectory.appending(path: "tutorial-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try run(command.split(separator: " ").map(String.init), in: folder).code == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.filter { !$0.hasPrefix(".") } == ["Package.swift"])
    }

    /// Where the compiler keeps its modules.
    private func resources() throws -> URL? {
        let output = try run(["swiftc", "-print-target-info"]).output
        let match = output.firstMatch(of: /"runtimeResourcePath"\s*:\s*"([^"]+)"/)
        return match.map { URL(filePath: String($0.1)) }
    }

    private func run(_ words: [String], in folder: URL? = nil) throws -> (code: Int32, output: String) {
        let ending = try ToolProcess.run("/usr/bin/env", words, in: folder)
        return (ending.code, ending.output)
    }

    @Test("every test and every check that an article names exists")
    func tests() throws {
        // A title may end with labels of the spec. A check is a function.
        let titles = try Repository.files(under: "Tests", where: { $0.hasSuffix(".swift") }).flatMap { file in
            file.lines.flatMap { $0.split(separator: "\"") }.map { $0.split(separator: " [").first ?? $0 }
        }
        let checks = try Repository.files(under: "Tests", where: { $0.hasSuffix(".py") }).flatMap { file in
            file.lines.filter { $0.hasPrefix("def ") }.map { $0.dropFirst(4).prefix { $0 != "(" } }
        }
        let names = Set(titles + checks)
        var count = 0
        let article = try Repository.file("\(catalogue)/WhatAppleLeavesOpen.md")
        for line in article.lines where line.hasPrefix("| ") {
            guard let cell = line.split(separator: "|").last, !cell.contains("---") else { continue }
            for title in cell.matches(of: /`([^`]+)`/).map(\.1) {
                count += 1
                #expect(names.contains(title), "\(title)")
            }
        }
        #expect(count > 30)
    }

    /// Returns what is between "```swift" and "```", without indentation and empty lines.
    private func samples(in lines: [Substring]) -> [[Substring]] {
        var samples: [[Substring]] = []
        var sample: [Substring]?
        for line in lines.map(trimmed) {
            if line == "```swift" {
                sample = []
            } else if line == "```" {
                if let sample { samples.append(sample) }
                sample = nil
            } else {
                sample?.append(line)
            }
        }
        return samples
    }

    /// Returns the line with one space where there are several: trailing comments are aligned in some places.
    private func spaced(_ line: Substring) -> String { line.split(separator: " ").joined(separator: " ") }

    private func trimmed(_ line: Substring) -> Substring { line.drop { $0 == " " } }
}
