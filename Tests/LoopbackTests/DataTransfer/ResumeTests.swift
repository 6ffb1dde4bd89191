import Foundation
import Multipeer
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.6 Files that go on where they stopped", .inTurns)
struct ResumeTests {
    private static let size = 3_000_001
    private let folders = Folders()
    private let ann: PeerID
    private let bob: PeerID
    private let annsKey: Identity

    private struct Folders {
        let anns = TestFolder()
        let bobs = TestFolder()
    }

    init() throws {
        ann = try PeerID(displayName: "ann")
        bob = try PeerID(displayName: "bob")
        annsKey = try .generate()
    }

    /// The sender's key in a test.
    private enum Key: CaseIterable, Sendable { case same, other, new, none }

    /// Links ann and bob in new sessions.
    private func meet(_ sender: PeerID? = nil, with key: Key = .same) async throws -> Meeting {
        let configuration: Session.Configuration =
            switch key {
            case .same: .loopback(identity: annsKey)
            case .other: .loopback(identity: try .generate())
            case .new: .loopback()
            case .none: .loopback(.none)
            }
        let meeting = try Meeting(
            sender ?? ann, configuration, bob, key == .none ? .loopback(.none) : .loopback())
        try await meeting.link()
        return meeting
    }

    private func file(_ bytes: [UInt8]) throws -> URL {
        let url = folders.anns.url.appendingPathComponent("song.ogg")
        try Data(bytes).write(to: url)
        return url
    }

    private static func content(_ seed: UInt64 = 1, _ count: Int = size) -> [UInt8] {
        var random = Seeded(seed)
        // No two places of a piece have the same bytes around them.
        let block = random.bytes(65_537)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        while bytes.count < count { bytes += block }
        return Array(bytes.prefix(count))
    }

    private var parts: [URL] {
        folders.bobs.names.filter { $0.hasSuffix(".multipeer-part") }.map {
            folders.bobs.url.appendingPathComponent($0)
        }
    }

    private enum Breaker: CaseIterable, Sendable { case sender, receiver }

    /// Sends the first bytes of a file, and then ends the link.
    private func breakOff(
        _ url: URL, after gate: UInt64, by breaker: Breaker = .sender, resuming: Resumption? = .standard,
        with key: Key = .same
    ) async throws {
        let meeting = try await meet(with: key)
        let (resource, receiving, _) = try await begin(url, gate, resuming, meeting)
        await moved(resource, gate)
        await (breaker == .sender ? meeting.ann : meeting.bob).disconnect()
        #expect(try await within { await receiving.value }.code == .ended)
        await meeting.end()
    }

    private func begin(
        _ url: URL, _ gate: UInt64, _ resuming: Resumption?, _ meeting: Meeting
    ) async throws -> (
        IncomingResource, Task<Result<IncomingResource.File, MultipeerError>, Never>, OutgoingResource
    ) {
        let source = try GatedSource(url.path, gate: gate)
        let sending = try await meeting.ann.send(to: bob, "song.ogg", nil, true, true) {
            _ throws(ResourceFault) in (source, nil)
        }
        let resource = try await offered(meeting.bob)
        let directory = folders.bobs.url
        let receiving = Task { await resource.received(into: directory, resuming: resuming) }
        return (resource, receiving, sending)
    }

    private func offered(_ session: Session) async throws -> IncomingResource {
        try await within {
            for await event in session.events {
                if case .resource(let resource) = event { return resource }
            }
            throw Overdue()
        }
    }

    /// Sends the whole file, and checks what arrives and how much was sent.
    private func complete(
        _ url: URL, from offset: Int, sender: PeerID? = nil, with key: Key = .same
    ) async throws {
        let meeting = try await meet(sender, with: key)
        let sending = try await meeting.ann.send(file: url, to: bob)
        let resource = try await offered(meeting.bob)
        let arrived = try await resource.receive(into: folders.bobs.url, resuming: .standard)
        try await within { try await sending.waitUntilReceived() }
        let bytes = try Data(contentsOf: url)
        #expect(try Data(contentsOf: arrived.url) == bytes)
        #expect(arrived.isVerified && arrived.size == UInt64(bytes.count))
        #expect(resource.resumedAt == UInt64(offset) && sending.resumedAt == UInt64(offset))
        #expect(sending.written == UInt64(bytes.count - offset))
        for await last in sending.progress { #expect(last.completedBytes == UInt64(bytes.count)) }
        try FileManager.default.removeItem(at: arrived.url)
        await meeting.end()
    }

    @Test(
        "a transfer whose link broke goes on in new sessions, and only the rest is sent [resource.resumable] [resource.begin] [resource.partial]",
        arguments: Breaker.allCases, [1, 65_537, 1_048_576, 2_999_999] as [UInt64])
    private func goesOn(_ breaker: Breaker, after count: UInt64) async throws {
        let url = try file(Self.content())
        try await breakOff(url, after: count, by: breaker)
        let part = try #require(parts.first)
        #expect(try Data(contentsOf: part) == Data(Self.content().prefix(Int(count))))
        let mode = try FileManager.default.attributesOfItem(atPath: part.path)[.posixPermissions] as? Int
        #expect(mode == 0o600 && part.lastPathComponent.hasPrefix("song.ogg."))
        try await complete(url, from: Int(count))
        #expect(folders.bobs.names == [])
    }

    @Test("it may break several times, and go on with nothing but FIN [resource.begin]")
    func severalTimes() async throws {
        let url = try file(Self.content())
        for count in [100_000, 1_500_000, UInt64(Self.size)] { try await breakOff(url, after: count) }
        try await complete(url, from: Self.size)
        #expect(folders.bobs.names == [])
    }

    @Test("a part that is not how the file begins now is replaced [resource.begin]", arguments: [0, 999_999])
    func otherBeginning(_ place: Int) async throws {
        var content = Self.content()
        try await breakOff(try file(content), after: 1_000_000)
        content[place] ^= 1
        try await complete(try file(content), from: 0)
        #expect(folders.bobs.names == [])
    }

    @Test("a file that changed after the part is sent as it is now [resource.begin] [resource.digest]")
    func otherRest() async throws {
        var content = Self.content()
        try await breakOff(try file(content), after: 1_000_000)
        content[1_000_000] ^= 1
        try await complete(try file(content), from: 1_000_000)
    }

    @Test("a file of another size, or of another peer, has nothing to do with the part [resource.partial]")
    func others() async throws {
        try await breakOff(try file(Self.content()), after: 1_000_000)
        try await complete(try file(Self.content(1, Self.size - 1)), from: 0)
        try await complete(try file(Self.content()), from: 0, sender: try PeerID(displayName: "ann"))
        #expect(parts.count == 1)
        try await complete(try file(Self.content()), from: 1_000_000)
    }

    @Test(
        "a peer that states the id and has not the key learns nothing of the part, and does not complete it [resource.partial]",
        arguments: [.other, .new, .none] as [Key])
    private func otherKey(_ key: Key) async throws {
        let url = try file(Self.content())
        try await breakOff(url, after: 1_000_000)
        try await complete(url, from: 0, with: key)
        #expect(parts.count == 1)
        try await complete(url, from: 1_000_000)
        #expect(folders.bobs.names == [])
    }

    @Test("of what comes over a link without keys no part is kept [resource.partial]")
    func withoutKey() async throws {
        try await breakOff(try file(Self.content()), after: 1_000_000, with: .none)
        #expect(folders.bobs.names == [])
    }

    @Test(
        "a part whose bytes changed, or which became a link, is not trusted [resource.begin] [resource.private]"
    )
    func changedPart() async throws {
        let url = try file(Self.content())
        try await breakOff(url, after: 1_000_000)
        let part = try #require(parts.first)
        let handle = try FileHandle(forUpdating: part)
        try handle.seek(toOffset: 500_000)
        try handle.write(contentsOf: Data([0xAB, 0xCD, 0xEF]))
        try handle.close()
        try await complete(url, from: 0)
        #expect(folders.bobs.names == [])

        let victim = folders.anns.url.appendingPathComponent("victim")
        try Data(Self.content().prefix(1_000_000)).write(to: victim)
        try FileManager.default.createSymbolicLink(at: part, withDestinationURL: victim)
        try await complete(url, from: 0)
        #expect(try Data(contentsOf: victim) == Data(Self.content().prefix(1_000_000)))
    }

    private enum Side: CaseIterable, Sendable { case sender, receiver }

    @Test(
        "whichever side cancels, nothing is kept, also of the part before [resource.cancel]",
        arguments: Side.allCases)
    private func cancelled(_ side: Side) async throws {
        let url = try file(Self.content())
        try await breakOff(url, after: 1_000_000)
        let meeting = try await meet()
        let (resource, receiving, sending) = try await begin(url, 2_000_000, .standard, meeting)
        await moved(resource, 2_000_000)
        if side == .sender { sending.cancel() } else { resource.cancel() }
        #expect(try await within { await receiving.value }.code == .cancelled)
        #expect(folders.bobs.names == [])
        await meeting.end()
    }

    @Test("what is offered, and not yet received, can be cancelled and declined by both [resource.resumable]")
    func beforeResume() async throws {
        let url = try file(Self.content())
        let meeting = try await meet()
        var sending = try await meeting.ann.send(file: url, to: bob)
        try await offered(meeting.bob).decline()
        #expect(try await sending.end()?.code == .declined)
        sending = try await meeting.ann.send(file: url, to: bob)
        let resource = try await offered(meeting.bob)
        sending.cancel()
        #expect(try await sending.end()?.code == .cancelled)
        #expect(await resource.received(into: folders.bobs.url, resuming: .standard).code == .cancelled)
        #expect(folders.bobs.names == [])
        await meeting.end()
    }

    @Test("without being asked to, a receiver keeps nothing, and asks for everything [resource.resumable]")
    func notKept() async throws {
        let url = try file(Self.content())
        try await breakOff(url, after: 1_000_000, resuming: nil)
        #expect(folders.bobs.names == [])
        let meeting = try await meet()
        let sending = try await meeting.ann.send(file: url, to: bob)
        let arrived = try await offered(meeting.bob).receive(into: folders.bobs.url)
        try await within { try await sending.waitUntilReceived() }
        #expect(try Data(contentsOf: arrived.url) == Data(Self.content()))
        await meeting.end()
    }

    @Test("only files of a mebibyte are asked about, with a digest, unless the sender does not want it")
    func smallest() async throws {
        let meeting = try await meet()
        let cases: [(Int, Bool, Bool, Bool)] = [
            (1_048_576, true, true, true), (1_048_575, true, true, false), (1_048_576, false, true, false),
            (1_048_576, true, false, false),
        ]
        for (count, digest, resumable, isAsked) in cases {
            let url = try file(Self.content(1, count))
            let sending = try await meeting.ann.send(file: url, to: bob, digest: digest, resumable: resumable)
            let resource = try await offered(meeting.bob)
            #expect(resource.isResumable == isAsked)
            _ = try await resource.receive(into: folders.bobs.url, resuming: .standard)
            try await within { try await sending.waitUntilReceived() }
        }
        #expect(folders.bobs.names.count == 4 && parts.isEmpty)
        await meeting.end()
    }

    @Test(
        "what Apple's API has received of a file outlives its session, and the next one goes on there [resource.partial]"
    )
    func ownDirectory() async throws {
        let url = try file(Self.content())
        do {
            let meeting = try await meet()
            let source = try GatedSource(url.path, gate: 1_000_000)
            _ = try await meeting.ann.send(to: bob, "song.ogg", nil, true, true) { _ throws(ResourceFault) in
                (source, nil)
            }
            let resource = try await offered(meeting.bob)
            let receiving = Task { () -> MultipeerError.Code? in
                do throws(MultipeerError) {
                    _ = try await resource.receive(into: ResourceFolder(), as: "song.ogg")
                } catch {
                    return error.code
                }
                return nil
            }
            await moved(resource, 1_000_000)
            await meeting.ann.disconnect()
            #expect(try await within { await receiving.value } == .ended)
            await meeting.end()
        }
        let meeting = try await meet()
        let sending = try await meeting.ann.send(file: url, to: bob)
        let folder = ResourceFolder()
        let arrived = try await offered(meeting.bob).receive(into: folder, as: "song.ogg")
        try await within { try await sending.waitUntilReceived() }
        #expect(sending.resumedAt == 1_000_000)
        #expect(arrived.path == "\(try folder.path())/song.ogg")
        #expect(try Data(contentsOf: arrived.url) == Data(Self.content()))
        try FileManager.default.removeItem(at: arrived.url)
        await meeting.end()
    }

    @Test("two files of one name and size at once do not share a part")
    func twins() async throws {
        let meeting = try await meet()
        let (first, receivingFirst, _) = try await begin(
            try file(Self.content(1)), 1_000_000, .standard, meeting)
        await moved(first, 1_000_000)
        let other = folders.anns.url.appendingPathComponent("other")
        try Data(Self.content(2)).write(to: other)
        let (second, receivingSecond, _) = try await begin(other, 2_000_000, .standard, meeting)
        await moved(second, 2_000_000)
        await meeting.ann.disconnect()
        #expect(try await within { await receivingFirst.value }.code == .ended)
        #expect(try await within { await receivingSecond.value }.code == .ended)
        #expect(folders.bobs.names.count == 1)
        await meeting.end()
        try await complete(try file(Self.content(1)), from: 1_000_000)
    }
}

extension IncomingResource {
    fileprivate func received(
        into directory: URL, resuming: Resumption?
    ) async -> Result<IncomingResource.File, MultipeerError> {
        do throws(MultipeerError) {
            return .success(try await receive(into: directory, resuming: resuming))
        } catch {
            return .failure(error)
        }
    }
}
