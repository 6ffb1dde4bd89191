import TestSupport
import Testing

@Suite("1 README", .computing)
struct ReadmeTests {
    @Test(
        "the samples of the README are those that are compiled",
        arguments: [(0, "Programs/Chat"), (1, "Programs/Asking")])
    func sample(_ index: Int, _ snippet: String) throws {
        let shown = shown(of: try Repository.file("Snippets/\(snippet).swift").lines)
        var lines = try Repository.file("README.md").lines[...]
        for _ in 0...index { lines = lines.drop { $0 != "```swift" }.dropFirst() }
        #expect(!shown.isEmpty)
        #expect(Array(lines.prefix { $0 != "```" }) == shown)
    }

    /// Returns what is between `snippet.show` and `snippet.hide`.
    private func shown(of snippet: [Substring]) -> [Substring] {
        var isShown = false
        var shown = snippet.filter { line in
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("// snippet.") else { return isShown }
            isShown = text == "// snippet.show"
            return false
        }
        while shown.last?.isEmpty == true { shown.removeLast() }
        return shown
    }
}
