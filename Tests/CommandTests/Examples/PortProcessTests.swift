import Foundation
import Multipeer
import MultipeerCommandLine
import TestSupport
import Testing

/// The applications of `Examples/Ports` after their port, each as two processes.
@Suite("Examples: ports of applications", .serialized, .inTurns)
struct PortProcessTests {
    private let type = ServiceType.random()
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func port(_ name: String, _ words: [String]) throws -> Command {
        try Command(words, program: "port-\(name)", environment: ["HOME": folder.path("home of \(words[0])")])
    }

    @Test("two chats connect, show who is here, and exchange what is typed")
    func chat() async throws {
        let ann = try port("chat", ["ann", type])
        let bob = try port("chat", ["bob", type])
        #expect(try await ann.prints("* here: bob"))
        #expect(try await bob.prints("* here: ann"))
        try await ann.types("hello")
        #expect(try await bob.prints("ann: hello"))
        try await bob.types("hello, ann")
        #expect(try await ann.prints("bob: hello, ann"))
        #expect(try await ann.finish().code == 0)
        #expect(try await bob.prints("* you are alone"))
        let ending = try await bob.finish()
        #expect(ending.code == 0 && ending.errors.isEmpty, "\(ending.errors)")
    }

    @Test("a file is dropped on a device whose user says yes, with its progress at both ends")
    func fileDrop() async throws {
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 11) })
        let file = URL(filePath: folder.path("photo.jpg"))
        try content.write(to: file)
        let bob = try port("file-drop", ["bob", folder.path("inbox"), "--service", type])
        let ann = try port(
            "file-drop", ["ann", folder.path("nothing"), file.path, "--service", type])
        #expect(try await bob.prints("ann wants to send files: y or n?"))
        try await bob.types("y")
        #expect(try await ann.prints("* connected with bob"))
        #expect(try await bob.prints(" %"))
        let kept = URL(filePath: folder.path("inbox/photo.jpg"))
        #expect(try await bob.prints("photo.jpg, ann: \(kept.path)"))
        #expect(try Data(contentsOf: kept) == content)
        let ending = try await ann.finish(nil)
        #expect(ending.code == 0 && ending.text.contains("photo.jpg, bob: received"), "\(ending)")
        #expect(ending.text.contains(" %\n"))
        #expect(try await bob.prints("* not connected"))
        bob.process.signal(SIGTERM)
        _ = try await bob.finish()
    }

    @Test("two games show where the other player is, as it moves, and its points")
    func game() async throws {
        let ann = try port("game", ["ann", type])
        let bob = try port("game", ["bob", type])
        #expect(try await ann.prints("bob is at state "))
        #expect(try await bob.prints("ann is at state "))
        // Each line but the first is a second of states after the one before.
        #expect(try await ann.prints("bob is at state "))
        try await ann.types("")
        #expect(try await bob.prints("with points: 1"))
        try await ann.types("")
        #expect(try await bob.prints("with points: 2"))
        for one in [ann, bob] {
            let ending = try await one.finish()
            #expect(ending.code == 0 && ending.errors.isEmpty, "\(ending.errors)")
        }
    }
}
