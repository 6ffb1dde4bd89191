import Testing

@Suite("1 README")
struct ReadmeTests {
    @Test("the sample of the README is the one that is compiled")
    func sample() throws {
        let shown = shown(of: try Repository.file("Snippets/TwoPeers.swift").lines)
        let sample = try Repository.file("README.md").lines
            .drop { $0 != "```swift" }.dropFirst().prefix { $0 != "```" }
        #expect(!shown.isEmpty)
        #expect(Array(sample) == shown)
    }

    /// What stands between `snippet.show` and `snippet.hide`.
    private func shown(of snippet: [Substring]) -> [Substring] {
        var isShown = false
        var shown = snippet.filter { line in
            guard line.hasPrefix("// snippet.") else { return isShown }
            isShown = line == "// snippet.show"
            return false
        }
        while shown.last?.isEmpty == true { shown.removeLast() }
        return shown
    }
}
