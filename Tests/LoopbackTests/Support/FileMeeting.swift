import Foundation
import Glibc
import Multipeer
import MultipeerTransport
import TestSupport
import Testing

/// Two linked sessions and a directory for each: ann has files, bob receives some.
struct FileMeeting: Sendable {
    let meeting: Meeting
    let anns = TestFolder()
    let bobs = TestFolder()

    var ann: Session { meeting.ann }
    var bob: Session { meeting.bob }

    init(_ configuration: Session.Configuration = .loopback()) async throws {
        meeting = try Meeting(ann: configuration, bob: configuration)
        try await meeting.link()
    }

    /// Creates a file of ann's.
    func file(_ bytes: [UInt8], _ name: String = "file") throws -> URL {
        let url = anns.url.appendingPathComponent(name)
        try Data(bytes).write(to: url)
        return url
    }

    /// Creates a sparse file of a gibibyte, whose transfer does not end in this test.
    func endless(_ name: String = "endless") throws -> URL {
        let url = try file([1], name)
        unsafe truncate(url.path, 1 << 30)
        return url
    }

    /// Waits for what ann has sent, which arrives as an offer.
    func offered() async throws -> IncomingResource {
        try await within { [bob] in
            for await event in bob.events {
                if case .resource(let resource) = event { return resource }
            }
            throw Overdue()
        }
    }

    /// Receives into bob's directory.
    func receive(_ resource: IncomingResource) async -> Result<IncomingResource.File, MultipeerError> {
        await resource.received(into: bobs.url)
    }

    /// Checks that nothing is left of what happened before, that the link is alive, and that another file comes
    /// through.
    func expectLife(_ left: Int = 0) async throws {
        #expect(bobs.names.count == left)
        let url = try file([1, 2, 3], "another")
        let sending = try await ann.send(file: url, to: bob.peer)
        let file = try await receive(try await offered()).get()
        #expect(try Data(contentsOf: file.url) == Data([1, 2, 3]))
        try await within { try await sending.waitUntilReceived() }
        try FileManager.default.removeItem(at: file.url)
        try await within { try await meeting.expectTalk() }
    }

    /// Files of ann and bob that this process has open.
    var openFiles: [String] {
        let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return links.compactMap { link in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
        }.filter { $0.hasPrefix(anns.url.path) || $0.hasPrefix(bobs.url.path) }
    }

    func end() async { await meeting.end() }
}

extension IncomingResource {
    func received(into directory: URL?) async -> Result<IncomingResource.File, MultipeerError> {
        do throws(MultipeerError) { return .success(try await receive(into: directory)) } catch {
            return .failure(error)
        }
    }
}

extension OutgoingResource {
    /// Waits for its end, and returns the error; nil on success.
    func end() async throws -> MultipeerError? {
        try await within { () async -> MultipeerError? in
            do throws(MultipeerError) { try await self.waitUntilReceived() } catch { return error }
            return nil
        }
    }
}

extension Result where Failure == MultipeerError {
    var code: MultipeerError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}

/// A directory for one test, removed with everything in it.
final class TestFolder: Sendable {
    let url: URL

    init() {
        var randomness = SystemRandomness()
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("files-\(randomness.next())", isDirectory: true)
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }
}
