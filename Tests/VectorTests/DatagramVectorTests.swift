import MultipeerFraming
import MultipeerLink
import MultipeerSecurity
import TestSupport
import Testing

struct Datagram: VectorBody {
    static let type = "datagram"
    let link: String
    let association: Hex
    let hex: Hex
    let body: Hex?
}

struct DatagramContent: VectorBody {
    static let type = "datagram-content"
    let hex: Hex
    let content: Content?

    struct Content: Decodable, Equatable {
        let kind: String
        let sequence: UInt32
        let body: Hex
    }
}

struct DatagramWindow: VectorBody {
    static let type = "datagram-window"
    let sequences: [UInt32]
    let accepted: [Bool]
}

struct DatagramKey: VectorBody {
    static let type = "datagram-key"
    let exporterSecret: Hex
    let lower: Hex
    let higher: Hex
    let context: Hex
    let expectedPsk: Hex
    let psk: Hex
    let headerToLower: Hex
    let headerToHigher: Hex
}

@Suite("10 Vectors of datagrams", .computing)
struct DatagramVectorTests {
    @Test(
        "a datagram of the right kind for the path gives its body, any other is dropped [dgram.header] [dgram.size] [dgram.mode] [dgram.drop]",
        arguments: try VectorFiles.all(Datagram.self))
    func datagram(_ vector: Vector<Datagram>) {
        let bytes = vector.body.hex.bytes
        let path = path(
            receivingUnder: number(vector.body.association), isProtected: vector.body.link == "tls")
        var check: String?
        if let header = DatagramHeader(bytes.span) {
            if !path.admits(header) {
                check = header.association == path.association ? "kind" : "association"
            }
        } else {
            check = (10...Limits.datagram).contains(bytes.count) ? "kind" : "size"
        }
        #expect(check.map { Fault($0, "NONE") } == vector.fault)
        guard check == nil else { return }
        #expect(Hex(Array(bytes.dropFirst(DatagramHeader.byteCount))) == vector.body.body)
    }

    @Test(
        "a content is read, or dropped and counted [dgram.drop] [dgram.message-max]",
        arguments: try VectorFiles.all(DatagramContent.self))
    func content(_ vector: Vector<DatagramContent>) throws {
        let bytes = vector.body.hex.bytes
        var path = path(receivingUnder: 1, isProtected: false)
        let verdict = path.receive(bytes.span, at: .start)
        #expect((path.dropped == 0) == vector.isValid)
        guard let expected = vector.body.content else {
            #expect(!verdict.isMessage)
            #expect(path.takeActions() == [])
            return
        }
        let parsed = ContentHeader(bytes.span)
        let header = try #require(parsed)
        let body = Array(bytes.dropFirst(ContentHeader.byteCount))
        #expect(
            DatagramContent.Content(kind: "\(header.kind)", sequence: header.sequence, body: Hex(body))
                == expected)
        #expect(verdict.isMessage == (expected.kind == "message"))
        let sent = path.takeActions().compactMap { action -> [UInt8]? in
            if case .send(let content) = action { content } else { nil }
        }
        #expect(
            sent.map { Array($0.dropFirst(ContentHeader.byteCount)) }
                == (expected.kind == "ping" ? [body] : []))
    }

    @Test(
        "a repeated number, or one 64 behind, is dropped [dgram.sequence]",
        arguments: try VectorFiles.all(DatagramWindow.self))
    func window(_ vector: Vector<DatagramWindow>) {
        var path = path(receivingUnder: 1, isProtected: false)
        let accepted = vector.body.sequences.map { sequence in
            var content = ByteBuffer()
            ContentHeader(.message, sequence: sequence).encode(into: &content)
            return path.receive(content.takeAll().span, at: .start).isMessage
        }
        #expect(accepted == vector.body.accepted)
    }

    @Test(
        "both ends derive the same key and headers from two DGRAMs [dgram.key] [dgram.header]",
        arguments: try VectorFiles.all(DatagramKey.self))
    func key(_ vector: Vector<DatagramKey>) {
        let (lower, higher) = (number(vector.body.lower), number(vector.body.higher))
        var controlling = DatagramPath(isControlling: true, isProtected: true, port: 5_000)
        var controlled = DatagramPath(isControlling: false, isProtected: true, port: 6_000)
        let contexts = [
            begin(&controlling, receivingUnder: lower, sendingTo: higher),
            begin(&controlled, receivingUnder: higher, sendingTo: lower),
        ]
        #expect(contexts == [vector.body.context, vector.body.context])
        #expect(encoded(controlling.header) == vector.body.headerToHigher)
        #expect(encoded(controlled.header) == vector.body.headerToLower)
        let psk = Hex(exported(vector.body.exporterSecret.bytes, vector.body.context.bytes))
        #expect(psk == vector.body.expectedPsk)
        #expect((psk == vector.body.psk) == vector.isValid)
    }

    private func path(receivingUnder association: UInt64, isProtected: Bool) -> DatagramPath {
        var path = DatagramPath(isControlling: true, isProtected: isProtected, port: 5_000)
        _ = begin(&path, receivingUnder: association, sendingTo: 2)
        return path
    }

    /// Exchanges both DGRAMs; returns the context of the key.
    private func begin(
        _ path: inout DatagramPath, receivingUnder local: UInt64, sendingTo remote: UInt64
    ) -> Hex? {
        _ = path.announce(local, at: .start)
        path.receive(DatagramOffer(association: remote, port: 7_000), at: .start)
        for case .begin(let context) in path.takeActions() { return context.map(Hex.init) }
        return nil
    }

    private func encoded(_ header: DatagramHeader?) -> Hex? {
        var buffer = ByteBuffer()
        header?.encode(into: &buffer)
        return header == nil ? nil : Hex(buffer.takeAll())
    }

    private func number(_ hex: Hex) -> UInt64 { hex.bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The exporter of RFC 8446, 7.5, with SHA-256. Everything it makes here fits into one block.
    private func exported(_ secret: [UInt8], _ context: [UInt8]) -> [UInt8] {
        let derived = expanded(secret, "EXPORTER-mpc1-datagram", SHA256.hash([UInt8]()))
        return expanded(derived, "exporter", SHA256.hash(context))
    }

    private func expanded(_ secret: [UInt8], _ label: String, _ context: [UInt8]) -> [UInt8] {
        let label = Array("tls13 \(label)".utf8)
        let info = [0, 32, UInt8(label.count)] + label + [UInt8(context.count)] + context
        return HMAC.sha256(key: secret, info + [1])
    }
}
