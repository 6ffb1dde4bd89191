import Testing

/// The articles about Apple's API say nothing that is not compiled or shown.
@Suite("1 Documentation")
struct DocumentationTests {
    private let catalogue = "Sources/MultipeerConnectivity/MultipeerConnectivity.docc"

    @Test("every sample of code in the articles is part of a file that is compiled")
    func samples() throws {
        let compiled = try Repository.files(under: "Snippets", where: { $0.hasSuffix(".swift") })
            .map { file in file.lines.map(trimmed).filter { !$0.hasPrefix("// snippet.") } }
        var count = 0
        for article in try Repository.files(under: catalogue, where: { $0.hasSuffix(".md") }) {
            for sample in samples(in: article.lines) {
                count += 1
                #expect(
                    compiled.contains { $0.contains(sample) }, "\(article.path): \(sample.first ?? "")")
            }
        }
        #expect(count > 10)
    }

    @Test("every test and every check that an article names is there")
    func tests() throws {
        let text = try Repository.files(
            under: "Tests", where: { $0.hasSuffix(".swift") || $0.hasSuffix(".py") }
        ).map(\.text).joined()
        var count = 0
        let article = try Repository.file("\(catalogue)/WhatAppleLeavesOpen.md")
        for line in article.lines where line.hasPrefix("| ") {
            guard let cell = line.split(separator: "|").last, !cell.contains("---") else { continue }
            for title in cell.matches(of: /`([^`]+)`/).map(\.1) {
                count += 1
                // A title may have labels of the spec behind it.
                let ways = ["\"\(title)\"", "\"\(title) [", "def \(title)():"]
                #expect(ways.contains { text.contains($0) }, "\(title)")
            }
        }
        #expect(count > 30)
    }

    /// What stands between "```swift" and "```", without indentation and empty lines.
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

    private func trimmed(_ line: Substring) -> Substring { line.drop { $0 == " " } }
}
