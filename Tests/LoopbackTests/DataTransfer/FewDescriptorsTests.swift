import Foundation
import Glibc
import Multipeer
import TestSupport
import Testing

@Suite("9.6 Few descriptors", .inTurns)
struct FewDescriptorsTests {
    private static let count = 12

    @Test("with descriptors for one file at a time, at both ends, all files arrive [resource.files]")
    func turns() async throws {
        await #expect(processExitsWith: .success) { try await FewDescriptorsTests.sendAll() }
    }

    private static func sendAll() async throws {
        let files = try await FileMeeting()
        let bytes = [UInt8](repeating: 7, count: 1_000_000)
        let url = try files.file(bytes)
        // What is opened once, with the first file.
        let first = try await files.ann.send(file: url, to: files.bob.peer)
        _ = try await files.receive(try await files.offered()).get()
        try await within { try await first.waitUntilReceived() }
        // The reserve, one file that comes with its directory, and one that goes.
        DescriptorLimit.leave(4 + 2 + 1)
        let (ann, bob) = (files.ann, files.bob)
        let sending = (0..<count).map { _ in
            Task { try await ann.send(file: url, to: bob.peer).waitUntilReceived() }
        }
        let receiving = Task {
            var tasks: [Task<URL, any Error>] = []
            while tasks.count < count {
                let resource = try await files.offered()
                tasks.append(Task { try await files.receive(resource).get().url })
            }
            var places: Set<URL> = []
            for task in tasks { places.insert(try await task.value) }
            return places
        }
        for one in sending { try await within { try await one.value } }
        let places = try await within { try await receiving.value }
        if places.count != count { exit(2) }
        for place in places where try Data(contentsOf: place) != Data(bytes) { exit(3) }
        exit(0)
    }
}
