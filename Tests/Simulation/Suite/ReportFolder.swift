import Foundation

/// A temporary folder that exists as long as this object.
final class ReportFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "multipeer-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }
}
