import Foundation
import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

struct Resource: VectorBody {
    static let type = "resource"
    let pieces: [Piece]
    let size: String?
    let digest: Hex?
    let noDigest: Bool?
    let answer: String
    let length: Int?
    let sha256: Hex?

    struct Piece: Decodable {
        let fill: Hex
        let length: Int

        var bytes: [UInt8] { [UInt8](repeating: fill.bytes.first ?? 0, count: length) }
    }
}

struct ResourceName: VectorBody {
    static let type = "resource-name"
    let name: Hex
}

@Suite("9.6 Vectors of resources", .computing)
struct ResourceVectorTests {
    @Test(
        "a name is a label, byte for byte, or refused [resource.label] [channel.name]",
        arguments: try VectorFiles.all(ResourceName.self))
    func name(_ vector: Vector<ResourceName>) {
        let name = vector.body.name.bytes
        var payload = ByteBuffer()
        payload.appendField(ChannelOpening.Field.kind, ChannelOpening.Kind.resource.rawValue)
        payload.appendField(ChannelOpening.Field.name, name)
        let bytes = payload.takeAll()
        var label: [UInt8]?
        var fault: Fault?
        do throws(FramingError) {
            let header = FrameHeader(.open, channel: 1, length: bytes.count)
            if case .open(_, let opening) = try Frame(header, bytes.span) { label = Array(opening.name.utf8) }
        } catch {
            fault = Fault("entries", error.closeCode.name)
        }
        #expect(label == (vector.isValid ? name : nil))
        #expect(fault == vector.fault)
    }

    @Test(
        "a file with the announced size and digest is stored, any other is answered and removed [resource.size] [resource.digest] [resource.done] [resource.label] [resource.private]",
        arguments: try VectorFiles.all(Resource.self))
    func receive(_ vector: Vector<Resource>) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vectors-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let opening = ChannelOpening(
            kind: .resource, name: "../\(vector.id)", size: vector.body.size.flatMap { UInt64($0) },
            hasNoDigest: vector.body.noDigest ?? false)
        let answers = AsyncStream.makeStream(of: Void.self)
        let receiveQueue = ChannelReceiveQueue(opening) { answers.continuation.yield() }
        let resource = IncomingResource(
            ChannelReceiver(
                from: try PeerID(validating: UID(high: 1, low: 2), displayName: "vector"), receiveQueue),
            folder: ResourceFolder(in: folder.path))
        let worker = try EventLoop()
        async let outcome = received(resource, into: folder.path, on: worker)
        for piece in vector.body.pieces where piece.length > 0 { receiveQueue.deliver(piece.bytes) }
        receiveQueue.tell()
        // A sender that is answered with STOP does not get to FIN.
        let isStopped = vector.body.answer.hasPrefix("STOP")
        if !isStopped {
            receiveQueue.end(.finished(digest: vector.body.digest?.bytes))
            receiveQueue.tell()
        }
        let file = await outcome
        for await _ in answers.stream {
            let report = receiveQueue.take()
            guard let code = report.done ?? report.stop else { continue }
            // A receiver that stops after FIN sends DONE for it.
            #expect("\(isStopped ? "STOP" : "DONE") \(code.name)" == vector.body.answer)
            break
        }
        let stored = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(stored.count == (vector.isValid ? 1 : 0))
        guard vector.isValid else { return }
        let kept = try #require(file)
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: kept.path)))
        #expect(bytes.count == vector.body.length)
        #expect(Hex(SHA256.hash(bytes)) == vector.body.sha256)
        #expect(kept.digest.map(Hex.init) == (opening.hasNoDigest ? nil : vector.body.sha256))
        #expect(kept.path.hasPrefix(folder.path))
    }

    private func received(
        _ resource: IncomingResource, into folder: String, on worker: EventLoop
    ) async -> IncomingResource.File? {
        try? await resource.receive(into: .directory(folder), on: worker)
    }
}
