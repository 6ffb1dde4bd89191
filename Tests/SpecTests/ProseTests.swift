import TestSupport
import Testing

/// The prose of the tree is plain English: the phrases in the table of `CONTRIBUTING.md` do not come back.
@Suite("1 Prose", .computing)
struct ProseTests {
    /// A place where a phrase is right: the file, the words with the phrase, and the reason.
    struct Exception {
        let path: String
        let words: String
        let reason: String
    }

    static let exceptions = [
        Exception(
            path: "Sources/MultipeerCLI/Room/Room+Talk.swift", words: "nobody else is in the room",
            reason: "a message to a user, about people"),
        Exception(
            path: "Sources/MultipeerCLI/Room/Room+Files.swift", words: "nobody else is in the room",
            reason: "a message to a user, about people"),
        Exception(
            path: "Sources/MultipeerCLI/Room/RoomOccupancy.swift", words: "nobody joined the room",
            reason: "a message to a user, about people"),
    ]

    /// The tree is read once for all tests.
    private static let prose = Result { try Prose.ofRepository() }

    @Test("a phrase that the table of phrases has retired does not come back")
    func retired() throws {
        let phrases = try retiredPhrases()
        #expect(phrases.count > 50)
        let prose = try ProseTests.prose.get()
        #expect(prose.count > 500)
        for one in prose {
            let exceptions = ProseTests.exceptions.filter { $0.path == one.path }
            let text = exceptions.reduce(one.text) { $0.replacing($1.words, with: "") }.lowercased()
            for phrase in phrases where text.contains(phrase) {
                for place in places(of: phrase, in: text) {
                    Issue.record("\(one.path): '\(phrase)' in \"\(place)\"")
                }
            }
        }
    }

    @Test("every exception is needed, and gives a reason")
    func exceptions() throws {
        let phrases = try retiredPhrases()
        let prose = try ProseTests.prose.get()
        for exception in ProseTests.exceptions {
            #expect(!exception.reason.isEmpty)
            #expect(phrases.contains { !places(of: $0, in: exception.words).isEmpty }, "\(exception.words)")
            #expect(
                prose.contains { $0.path == exception.path && $0.text.contains(exception.words) },
                "\(exception.path): \(exception.words)")
        }
        #expect(ProseTests.exceptions.count < 10)
    }

    @Test("the phrases are found in comments, documents and messages, and only there")
    func places() throws {
        #expect(places(of: "so many", in: "after so many bytes") == ["after so many bytes"])
        #expect(places(of: "seat", in: "a seated guest, the sea").isEmpty)
        let texts = try ProseTests.prose.get().map(\.text)
        #expect(texts.contains { $0.contains("Imports point downwards only") }, "the README")
        #expect(texts.contains { $0.contains("link with one peer: a secure netcat and chat") }, "a help text")
        #expect(texts.contains { $0.contains("Takes the body of one UDP payload.") }, "a comment")
        #expect(!texts.contains { $0.contains("import Multipeer ") }, "a sample")
    }

    // MARK: Reading

    /// Returns the phrases in the last column of the table.
    private func retiredPhrases() throws -> [String] {
        let text = try Repository.file("CONTRIBUTING.md").text
        let section = try #require(text.split(separator: "\n### ").first { $0.hasPrefix("Phrases\n") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        return rows.flatMap { row in
            (row.split(separator: "|").last { $0.contains("`") } ?? "")
                .matches(of: #/`([^`]+)`/#).map { String($0.1) }
        }
    }

    /// Returns each occurrence of the phrase as whole words, with a few words around it.
    private func places(of phrase: String, in text: String) -> [String] {
        text.ranges(of: phrase).compactMap { range in
            let before = text[..<range.lowerBound]
            let after = text[range.upperBound...]
            guard before.last?.isLetter != true, after.first?.isLetter != true else { return nil }
            return String(before.suffix(40) + text[range] + after.prefix(40))
        }
    }
}
