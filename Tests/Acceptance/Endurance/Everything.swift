import Foundation
import Multipeer

/// Two sessions send each other every kind of content, with the same word in all of it, for a check that captures the
/// network: messages, datagrams, the names, metadata and bytes of streams and files.
struct Everything {
    private static let datagrams = 100
    private static let timeLimit = Duration.seconds(15)

    private let preference: EncryptionPreference
    private let word: String
    private let content: [UInt8]

    init(_ preference: String, _ word: String) throws {
        guard let preference = EncryptionPreference(name: preference), word.utf8.count == 16 else {
            throw Endurance.Failure(description: "usage: everything PREFERENCE WORD")
        }
        self.preference = preference
        self.word = word
        content = [UInt8](repeatElement(Array(word.utf8), count: 65_536).joined())
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "endurance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: word)
        try Data(content).write(to: file)
        let couple = try await Couple.linked(preference)
        let heard = Task { try await hear(couple.other, in: folder) }
        let peer = couple.other.peer
        let metadata = Array(word.utf8)
        try await couple.one.send(content, to: peer)
        let stream = try await couple.one.openStream(to: peer, name: word, metadata: metadata)
        try await stream.write(content)
        try await stream.finish()
        let resource = try await couple.one.send(file: file, to: peer, metadata: metadata)
        try await resource.waitUntilReceived()
        let flood = Task {
            while !Task.isCancelled {
                try await couple.one.send(metadata + metadata, to: peer, delivery: .unreliable)
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        let alarm = Task {
            try await Task.sleep(for: Everything.timeLimit)
            heard.cancel()
            await couple.leave()
        }
        let text = try await heard.value
        flood.cancel()
        alarm.cancel()
        await couple.leave()
        print(text)
    }

    /// Receives until one of each came, and that many datagrams that did not take the link.
    private func hear(_ session: Session, in folder: URL) async throws -> String {
        var (messages, streams, files, datagrams) = (0, 0, 0, 0)
        for await event in session.events {
            switch event {
            case .message(let message) where message.delivery == .unreliable: datagrams += 1
            case .message(let message) where message.bytes == content: messages += 1
            case .message: break
            case .stream(let stream):
                var bytes: [UInt8] = []
                for try await piece in stream { bytes += piece }
                let isRight = bytes == content && stream.name == word && stream.metadata == Array(word.utf8)
                try Endurance.expect(isRight, "the stream differs")
                streams += 1
            case .resource(let resource):
                let received = try await resource.receive(into: folder)
                try Endurance.expect(
                    try Data(contentsOf: received.url) == Data(content) && resource.name == word,
                    "the file differs")
                files += 1
            case .peer, .verificationRequested, .verified: break
            }
            if messages > 0, streams > 0, files > 0, datagrams >= Everything.datagrams { break }
        }
        try Endurance.expect(
            datagrams >= Everything.datagrams,
            "\(messages) messages, \(streams) streams, \(files) files, \(datagrams) datagrams arrived")
        return "a message, a stream, a file and \(datagrams) datagrams"
    }
}
