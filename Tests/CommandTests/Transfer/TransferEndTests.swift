import Foundation
import MultipeerCLI
import TestSupport
import Testing
import MultipeerCommandLine

@Suite("Command: transfers that end badly", .serialized, .inTurns)
struct TransferEndTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func huge() throws -> String { try folder.sparse(1 << 32, to: "huge") }

    @Test("an interrupted sender notifies the receiver, and no file is left", arguments: [SIGINT, SIGTERM])
    func sender(_ signal: Int32) async throws {
        let delivery = try TransferProcesses([try huge()], in: folder)
        try await delivery.isUnderWay()
        delivery.sender.process.signal(signal)
        let (sender, receiver) = try await delivery.finish()
        #expect(sender.code == 130)
        #expect(receiver.code == 5, "\(receiver.errors)")
        #expect(receiver.errors.contains("multipeer: huge: cancelled by the other side\n"))
        #expect(try delivery.inbox.isEmpty)
        #expect(!folder.exists("ann.data") && !folder.exists("bob.data"))
    }

    @Test("an interrupted receiver notifies the sender, and no file is left", arguments: [SIGINT, SIGTERM])
    func receiver(_ signal: Int32) async throws {
        let delivery = try TransferProcesses([try huge(), try folder.write("x", to: "x")], in: folder)
        try await delivery.isUnderWay()
        delivery.receiver.process.signal(signal)
        let (sender, receiver) = try await delivery.finish()
        #expect(receiver.code == 130)
        #expect(sender.code == 5, "\(sender.errors)")
        #expect(sender.errors.contains("multipeer: huge: cancelled by the other side\n"))
        #expect(sender.errors.contains("2 failed"))
        #expect(try delivery.inbox.isEmpty)
    }

    @Test("a lost link ends the receiver, and no file is left")
    func killed() async throws {
        let delivery = try TransferProcesses([try huge()], in: folder)
        try await delivery.isUnderWay()
        delivery.sender.process.signal(SIGKILL)
        let (sender, receiver) = try await delivery.finish()
        #expect(sender.code == 128 + SIGKILL)
        #expect(receiver.code == 1)
        #expect(receiver.errorLines.last?.hasPrefix("multipeer: the link to ann ended: ") == true)
        #expect(try delivery.inbox.isEmpty)
    }

    @Test("a lost link ends the sender")
    func lostReceiver() async throws {
        let delivery = try TransferProcesses([try huge()], in: folder)
        try await delivery.isUnderWay()
        delivery.receiver.process.signal(SIGKILL)
        let (sender, _) = try await delivery.finish()
        #expect(sender.code == 1, "\(sender.errors)")
        #expect(sender.errorLines.last?.contains("the link to bob") == true)
    }

    @Test("a file that shrinks while it is sent fails on both sides, and the next one is sent")
    func shrinking() async throws {
        let path = try huge()
        let delivery = try TransferProcesses([path, try folder.write("x", to: "x")], in: folder)
        try await delivery.isUnderWay()
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 1)
        let (sender, receiver) = try await delivery.finish()
        #expect((sender.code, receiver.code) == (5, 5))
        #expect(try delivery.inbox == ["x"])
    }

    @Test("a sender that never finishes its input can be interrupted")
    func input() async throws {
        let delivery = try TransferProcesses(["-"], in: folder)
        try await delivery.sender.send([1, 2, 3])
        try await delivery.isUnderWay()
        delivery.sender.process.signal(SIGINT)
        let (sender, receiver) = try await delivery.finish(input: nil)
        #expect((sender.code, receiver.code) == (130, 5))
        #expect(try delivery.inbox.isEmpty)
    }
}
