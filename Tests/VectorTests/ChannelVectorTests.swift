import MultipeerFraming
import TestSupport
import Testing

struct ChannelForm: VectorBody {
    static let type = "channel-opening"
    let hex: Hex
    let fields: Fields?

    struct Fields: Decodable, Equatable {
        let kind: UInt8
        let name: Hex
        let size: String?
        let metadata: Hex?
        let resumable: Bool?
    }
}

struct ChannelSteps: VectorBody {
    static let type = "channels"
    let local: Limits
    let remote: Limits
    let steps: [Step]

    struct Limits: Decodable {
        let maxChannels: UInt32
        let channelCredit: UInt32
        let messageCredit: UInt32
    }

    struct Step: Decodable {
        let `do`: String
        let at: Int?
        let frames: [Piece]?
        let count: Int?
        let stride: UInt32?
        let kind: UInt8?
        let name: String?
        let size: UInt64?
        let resumable: Bool?
        let offset: UInt64?
        let sha256: Hex?
        let channel: UInt32?
        let length: Int?
        let code: String?
        let events: [String]?
        let written: [String]?
    }

    struct Piece: Decodable {
        let kind: String
        let channel: UInt32
        let hex: Hex?
        let fill: Hex?
        let length: Int?

        func bytes(_ offset: UInt32) throws -> [UInt8] {
            let payload = hex?.bytes ?? [UInt8](repeating: fill?.bytes.first ?? 0, count: length ?? 0)
            let kinds: [String: FrameKind] = [
                "OPEN": .open, "DATA": .data, "FIN": .fin, "RESET": .reset, "STOP": .stop, "CREDIT": .credit,
                "DONE": .done, "RESUME": .resume, "BEGIN": .begin,
            ]
            var buffer = ByteBuffer()
            buffer.append(
                FrameHeader(try #require(kinds[kind]), channel: channel + offset, length: payload.count).bits)
            buffer.append(payload)
            return buffer.takeAll()
        }
    }
}

@Suite("9 Vectors of channels", .computing)
struct ChannelVectorTests {
    @Test(
        "the payload of OPEN gives its fields, or is refused [channel.name] [resource.resumable]",
        arguments: try VectorFiles.all(ChannelForm.self))
    func opening(_ vector: Vector<ChannelForm>) {
        let payload = vector.body.hex.bytes
        var fields: ChannelForm.Fields?
        var fault: Fault?
        do throws(FramingError) {
            let header = FrameHeader(.open, channel: 1, length: payload.count)
            if case .open(_, let opening) = try Frame(header, payload.span) {
                fields = ChannelForm.Fields(
                    kind: opening.kind.rawValue, name: Hex(Array(opening.name.utf8)),
                    size: opening.size.map(String.init), metadata: opening.metadata.map(Hex.init),
                    resumable: opening.isResumable ? true : nil)
            }
        } catch {
            fault = Fault("entries", error.closeCode.name)
        }
        #expect(fields == vector.body.fields)
        #expect(fault == vector.fault)
    }

    @Test(
        "channels open, carry data, wait and end as in the steps [channel.number] [channel.kind] [channel.limit] [channel.cost] [channel.credit-limit] [channel.credit-grow] [channel.credit-return] [channel.closed] [channel.stop] [channel.late] [channel.fin] [channel.exempt] [channel.reset-rate] [stream.end] [resource.done] [resource.resumable] [resource.begin] [limit.empty] [limit.control]",
        arguments: try VectorFiles.all(ChannelSteps.self))
    func steps(_ vector: Vector<ChannelSteps>) throws {
        var bench = ChannelBench(local: vector.body.local, remote: vector.body.remote)
        for (number, step) in vector.body.steps.enumerated() {
            try bench.apply(step)
            let (events, written) = bench.takeNotes()
            guard step.count == nil else { continue }
            #expect(events == inOrderOfChannels(step.events ?? []), "step \(number)")
            if let expected = step.written {
                #expect(written == inOrderOfChannels(expected), "step \(number)")
            }
        }
        #expect(bench.fault == vector.fault)
    }
}
