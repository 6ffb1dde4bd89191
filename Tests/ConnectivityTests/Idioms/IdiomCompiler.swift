import Foundation
import TestSupport
import Testing

/// The compiler, with the modules of this build, for code that is not part of the package.
struct IdiomCompiler {
    /// The folder of the build.
    private let build: URL

    init() throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        build = URL(filePath: own).deletingLastPathComponent()
        let module = build.appending(path: "Modules/MultipeerConnectivity.swiftmodule").path
        try #require(FileManager.default.fileExists(atPath: module))
    }

    /// Returns everything that the compiler says of these files, which are one module.
    ///
    /// It produces SIL and no machine code: the check of what is sent between isolation domains is done on SIL.
    func diagnostics(of files: [IdiomFile], flags: [String]) throws -> [String: [Diagnostic]] {
        let paths = files.map { IdiomFile.root.appending(path: $0.path).path }
        let isProgram = paths.contains { $0.hasSuffix("/main.swift") }
        let (code, output) = try run(
            ["-emit-sil", "-whole-module-optimization", "-o", "/dev/null", "-module-name", "Idioms"]
                + ["-diagnostic-style=llvm", "-no-color-diagnostics"]
                + (isProgram ? [] : ["-parse-as-library"])
                + modules + flags + paths)
        let lines = output.split(separator: "\n")
        let found = Dictionary(
            uniqueKeysWithValues: zip(files, paths).map { file, path in
                (file.path, lines.compactMap { Diagnostic(output: $0, of: path) })
            })
        let hasError = found.values.joined().contains { $0.severity == .error }
        #expect(code == 0 || hasError, "\(output)")
        return found
    }

    private var modules: [String] {
        let sources = IdiomFile.root.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let maps = [
            sources.appending(path: "CLibSSL/module.modulemap"),
            sources.appending(path: "CMultipeerConnectivity/include/module.modulemap"),
            build.appending(path: "CPlatform.build/module.modulemap"),
        ]
        return ["-I", build.appending(path: "Modules").path]
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
    }

    private func run(_ arguments: [String]) throws -> (code: Int32, output: String) {
        let ending = try ToolProcess.run("/usr/bin/env", ["swiftc"] + arguments)
        return (ending.code, ending.output + ending.errors)
    }
}
