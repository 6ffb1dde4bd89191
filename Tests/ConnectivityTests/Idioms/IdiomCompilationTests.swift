import TestSupport
import Testing

/// Idioms that the build does not compile, or not in all modes.
@Suite("Idioms of applications, compiled", .computing, .longForSanitizers)
struct IdiomCompilationTests {
    private let compiler: IdiomCompiler

    init() throws { compiler = try IdiomCompiler() }

    @Test(
        "an idiom of every mode compiles without a warning in each of them",
        arguments: [
            ["-swift-version", "5"], ["-swift-version", "5", "-strict-concurrency=complete"],
            ["-swift-version", "6", "-default-isolation", "MainActor"],
        ])
    func anyMode(_ flags: [String]) throws {
        for (path, diagnostics) in try compiler.diagnostics(of: IdiomFile.all(.anyMode), flags: flags) {
            #expect(diagnostics.isEmpty, "\(path)")
        }
    }

    @Test(
        "an idiom with flags of its own compiles without a warning", arguments: try IdiomFile.all(.withFlags))
    func withFlags(_ file: IdiomFile) throws {
        #expect(!file.flags.isEmpty)
        #expect(try compiler.diagnostics(of: [file], flags: file.flags) == [file.path: []])
    }

    @Test(
        "each diagnostic that a file shows is reported for its line, and none for any other line",
        arguments: try IdiomFile.all(.withDiagnostics))
    func diagnostics(_ file: IdiomFile) throws {
        #expect(!file.flags.isEmpty)
        let said = try compiler.diagnostics(of: [file], flags: file.flags)[file.path] ?? []
        let expected = file.expectations
        for expectation in expected {
            let isMet = said.contains { expectation.isMet(by: $0) }
            #expect(isMet, "not reported: \(expectation)")
        }
        // One mistake often has several diagnostics in its line.
        let lines = Set(expected.map(\.line))
        for diagnostic in said where !lines.contains(diagnostic.line) {
            Issue.record("not expected: \(file.path):\(diagnostic)")
        }
    }

    @Test(
        "what is to be written instead compiles without a warning",
        arguments: try IdiomFile.all(.withDiagnostics))
    func instead(_ file: IdiomFile) throws {
        let said = try compiler.diagnostics(of: [file], flags: file.flags + ["-D", "INSTEAD"])
        #expect(said == [file.path: []])
    }
}
