import TestSupport
import Testing

/// What the page of the isolation map promises, and the compiler cannot check.
@Suite("1 Isolation", .computing)
struct IsolationTests {
    private static let page = "Sources/Multipeer/Multipeer.docc/IsolationMap.md"

    private static let modifiers: Set<Substring> = [
        "public", "package", "private", "fileprivate", "internal", "open", "final",
    ]

    @Test("every assertion that the compiler cannot check is on the page, with its rule, and nothing else is")
    func exceptions() throws {
        let page = try Repository.file(IsolationTests.page).text
        let section = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("Exceptions\n") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| Multipeer") }
        let listed = rows.compactMap { $0.split(separator: "|").dropFirst().first }.flatMap { cell in
            cell.matches(of: /`(?:\w+\.)?(\w+)`/).map { String($0.1) }
        }
        var found: [String] = []
        for file in try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") }) {
            for line in file.lines where line.contains("nonisolated(unsafe)") || line.contains("@unchecked") {
                let match = line.prefixMatch(of: /[^"\/]*?\b(?:let|var|class|struct|enum|extension) (\w+)/)
                if let match { found.append(String(match.1)) }
            }
        }
        #expect(listed.sorted() == found.sorted())
    }

    @Test(
        "code that decides has no class, no actor, no task, no lock and no await",
        arguments: [
            "MultipeerCore", "MultipeerFraming", "MultipeerHandshake", "MultipeerDiscovery",
            "MultipeerLink", "MultipeerMesh",
        ])
    func machines(_ module: String) throws {
        for file in try Repository.files(under: "Sources/\(module)", where: { $0.hasSuffix(".swift") }) {
            for (number, line) in file.lines.enumerated() {
                let code = line.drop { $0 == " " }
                guard !code.hasPrefix("//") else { continue }
                let isEffect = ["await ", "Task {", "Locked", "Mutex"].contains(where: code.contains)
                let kind = code.split(separator: " ").first { !IsolationTests.modifiers.contains($0) }
                let isObject = kind == "class" || kind == "actor"
                #expect(!isEffect && !isObject, "\(file.path):\(number + 1): \(code)")
            }
        }
    }
}
