import Foundation
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: transfers that go on where they broke", .serialized, .inTurns)
struct ResumeCommandTests {
    private let folder: Folder
    private let contents: [UInt8]

    init() throws {
        folder = try Folder()
        // No part of it is like another.
        contents = (0..<(3 << 19)).flatMap { number in
            [
                UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8),
                UInt8(truncatingIfNeeded: number &* 2_654_435_761 >> 16),
                UInt8(truncatingIfNeeded: number >> 16),
            ]
        }
        try Data(contents).write(to: URL(filePath: folder.path("photo.raw")))
    }

    /// Both are the same peers in each run.
    private func transfer(_ send: [String] = [], isKept: Bool = false) throws -> TransferProcesses {
        // The connection data of processes that were killed would be read otherwise.
        for name in ["ann.data", "bob.data"] {
            try? FileManager.default.removeItem(atPath: folder.path(name))
        }
        return try TransferProcesses(
            [folder.path("photo.raw")], in: folder, send: send + ["--id", folder.path("ann.id")],
            receive: ["--id", folder.path("bob.id")], isKept: isKept)
    }

    private enum End: CaseIterable {
        case killedSender, killedReceiver, interruptedSender, interruptedReceiver
    }

    private func end(_ transfer: TransferProcesses, _ end: End) {
        switch end {
        case .killedSender: transfer.sender.process.signal(SIGKILL)
        case .killedReceiver: transfer.receiver.process.signal(SIGKILL)
        case .interruptedSender: transfer.sender.process.signal(SIGINT)
        case .interruptedReceiver: transfer.receiver.process.signal(SIGINT)
        }
    }

    @Test(
        "a file whose transfer broke goes on between new processes, and is complete [resource.partial]",
        arguments: End.allCases)
    private func goesOn(_ how: End) async throws {
        let first = try transfer(["--limit", "1M"])
        try await first.isUnderWay()
        end(first, how)
        let (_, receiver) = try await first.finish()
        let left = try #require(try first.inbox.first)
        #expect(
            try first.inbox.count == 1 && left.hasPrefix("photo.raw.") && left.hasSuffix(".multipeer-part"))
        #expect(try folder.mode("inbox/\(left)") == 0o600)
        if how != .killedReceiver { #expect(receiver.errors.contains("to go on from there, send it again")) }
        let second = try transfer(isKept: true)
        let (sent, received) = try await second.finish()
        #expect((sent.code, received.code) == (0, 0), "\(sent.errors) \(received.errors)")
        #expect(sent.errors.contains(", resumed at ") && received.errors.contains(", resumed at "))
        #expect(try second.inbox == ["photo.raw"] && second.received("photo.raw") == contents)
    }

    @Test("a file that has changed since its transfer broke is sent from its beginning [resource.partial]")
    func changed() async throws {
        let first = try transfer(["--limit", "1M"])
        try await first.isUnderWay()
        end(first, .killedReceiver)
        _ = try await first.finish()
        let changed = [1, 2, 3] + contents.dropFirst(3)
        try Data(changed).write(to: URL(filePath: folder.path("photo.raw")))
        let second = try transfer(isKept: true)
        let (sent, received) = try await second.finish()
        #expect((sent.code, received.code) == (0, 0), "\(sent.errors) \(received.errors)")
        #expect(!sent.errors.contains("resumed"))
        #expect(try second.inbox == ["photo.raw"] && second.received("photo.raw") == changed)
    }
}
