import Foundation
import MultipeerTransport
import Testing

/// A process of `MultipeerReuse`, for what a test cannot show in its own.
struct ReuseProcess {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private let input = Pipe()
    private let over = Promise<Void>()

    /// Starts the program beside the tests.
    init(_ arguments: String...) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(filePath: own).deletingLastPathComponent().appending(
            path: "MultipeerReuse")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["MULTIPEER_INTERFACES": "lo"]) {
            $1
        }
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = input
        process.terminationHandler = { [over] _ in over.send(()) }
        try process.run()
    }

    /// Waits for the end of its first line on standard error, and returns that.
    func firstError() async throws -> String {
        let file = errors.fileHandleForReading
        return try await BackgroundThread.value {
            var line = Data()
            while line.last != 0x0a {
                let more = file.availableData
                if more.isEmpty { break }
                line += more
            }
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// Ends its input, waits for its end, which has to be a regular one, and returns its output.
    @discardableResult
    func end() async throws -> String {
        try input.fileHandleForWriting.close()
        await over.value()
        let report = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(report)")
        return report
    }
}
