import Foundation
import TestSupport
import Testing

/// What differs from one operating system to the next has its place.
@Suite("1 Platforms", .computing)
struct PlatformRuleTests {
    /// The files that ask which library the system has.
    private static let deciding = [
        "Sources/MultipeerFoundation/Foundation.swift", "Sources/MultipeerNetworking/Networking.swift",
        "Sources/MultipeerPlatform/Platform.swift",
    ]
    /// The libraries that some systems have and others have not.
    private static let libraries = [
        "Glibc", "Musl", "Android", "Bionic", "Darwin", "WinSDK", "FoundationEssentials",
        "FoundationNetworking",
    ]

    @Test("one file alone asks which C library the system has, and one each which modules Foundation has")
    func libraries() throws {
        let imports = try Regex("import (struct |func )?(\(Self.libraries.joined(separator: "|")))\\b")
        for file in try Repository.files(under: "Sources", where: { $0.hasSuffix(".swift") }) {
            let asks = file.lines.filter { $0.contains("canImport(") || $0.contains(imports) }
            #expect(asks.isEmpty != Self.deciding.contains(file.path), "\(file.path): \(asks)")
        }
    }
}
