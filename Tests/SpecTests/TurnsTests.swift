import TestSupport
import Testing

/// Every suite takes turns with the others: one without a place would run all its tests at once, and starve those that
/// wait for sockets until they miss their deadlines.
@Suite("Suites take turns", .computing)
struct TurnsTests {
    @Test("every suite states whether it computes or waits")
    func places() throws {
        let files = try Repository.files(under: "Tests") { $0.hasSuffix(".swift") }
        let suites = files.flatMap { file in
            file.text.matches(
                of:
                    /@Suite\((?<traits>(?:"(?:[^"\\]|\\.)*"|[^"])*?)\)\s+(?:[a-z@]+\s+)*(?:struct|class|actor)\b/
            )
            .map { (file.path, $0.output.traits) }
        }
        #expect(suites.count > 200)
        for (path, traits) in suites {
            #expect(traits.contains(".computing") != traits.contains(".inTurns"), "\(path): \(traits)")
        }
    }
}
