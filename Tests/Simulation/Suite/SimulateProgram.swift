import Foundation
import TestSupport
import Testing

/// The program that runs seeds, next to the tests.
enum SimulateProgram {
    static func run(_ arguments: [String]) throws -> ToolProcess.Ending {
        let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let places = [folder, URL(filePath: own).deletingLastPathComponent(), build]
        let program = try #require(
            places.map { $0.appending(path: "simulate") }.first {
                FileManager.default.isExecutableFile(atPath: $0.path)
            }, "the runner was not built")
        return try ToolProcess.run(program.path, arguments)
    }

    private static let build = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/debug")
}
