import Foundation
import Testing

/// A file of `Tests/ConnectivityClients/Idioms`: short pieces of code as applications write it against Apple's API.
struct IdiomFile: CustomTestStringConvertible, Sendable {
    /// How a folder's files are compiled.
    enum Kind: String {
        /// In every language mode.
        case anyMode = "AnyMode"
        case swift5 = "Swift5"
        case swift6 = "Swift6"
        case mainActorByDefault = "MainActorByDefault"
        /// By a test, with the flags in the first lines of each file.
        case withFlags = "WithFlags"
        /// Likewise, with the diagnostics that the file shows; without any, when `INSTEAD` is defined.
        case withDiagnostics = "WithDiagnostics"
    }

    let kind: Kind
    /// The path from the folder of all idioms.
    let path: String
    let lines: [String]

    var testDescription: String { path }

    /// The flags that the file names, one after the other.
    var flags: [String] { header("flags").flatMap { $0.split(separator: " ").map(String.init) } }

    /// The language mode, as the documentation names it.
    var mode: String {
        switch kind {
        case .anyMode: "every"
        case .swift5: "Swift 5"
        case .swift6: "Swift 6"
        case .mainActorByDefault: "Swift 6, main actor by default"
        case .withFlags, .withDiagnostics: header("mode").first ?? ""
        }
    }

    /// The idioms, in order.
    var idioms: [Idiom] {
        var idioms: [Idiom] = []
        for line in lines {
            if let title = line.remainder(after: "// idiom: ") {
                idioms.append(Idiom(title: title, mode: mode))
            } else if var idiom = idioms.popLast() {
                idiom.add(line)
                idioms.append(idiom)
            }
        }
        return idioms
    }

    /// The diagnostics that the file expects: a comment `// error: text` or `// warning: text` is about the next line of code.
    var expectations: [Diagnostic] {
        var found: [Diagnostic] = []
        var waiting: [(Diagnostic.Severity, String)] = []
        for (index, line) in lines.enumerated() {
            if let (severity, text) = Diagnostic.expectation(in: line) {
                waiting.append((severity, text))
            } else if line.isCode {
                found += waiting.map { Diagnostic(line: index + 1, severity: $0.0, text: $0.1) }
                waiting = []
            }
        }
        return found
    }

    private func header(_ name: String) -> [String] {
        lines.prefix { $0.hasPrefix("//") }.compactMap { $0.remainder(after: "// \(name): ") }
    }
}

extension IdiomFile {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "ConnectivityClients/Idioms")

    /// Returns the files of one kind, sorted by path.
    static func all(_ kind: Kind) throws -> [IdiomFile] {
        let folder = root.appending(path: kind.rawValue)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".swift") }
            .map { path in
                let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                return IdiomFile(kind: kind, path: "\(kind.rawValue)/\(path)", lines: lines)
            }
    }
}
