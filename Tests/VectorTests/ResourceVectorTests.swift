import MultipeerFraming
import MultipeerSecurity
import Testing

struct Resource: VectorBody {
    static let type = "resource"
    let pieces: [Piece]
    let size: String?
    let digest: Hex?
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

@Suite("9.6 Vectors of resources")
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
        "a digest is that of all bytes together [resource.digest]",
        arguments: try VectorFiles.all(Resource.self))
    func digest(_ vector: Vector<Resource>) {
        var hasher = SHA256.Hasher()
        for piece in vector.body.pieces { hasher.update(piece.bytes) }
        let digest = Hex(hasher.finish())
        let count = vector.body.pieces.reduce(0) { $0 + $1.length }
        let fits =
            [nil, "\(count)"].contains(vector.body.size) && [nil, digest].contains(vector.body.digest)
        #expect(fits == vector.isValid)
        if let expected = vector.body.sha256 { #expect(digest == expected) }
        if let length = vector.body.length { #expect(count == length) }
    }
}
