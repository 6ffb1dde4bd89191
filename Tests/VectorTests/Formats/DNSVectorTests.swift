import MultipeerCore
import MultipeerDiscovery
import TestSupport
import Testing

struct DNSForm: VectorBody {
    static let type = "dns-message"
    let hex: Hex
    let append: Padding?
    let fields: Fields?

    struct Padding: Decodable {
        let fill: UInt8
        let length: Int
    }

    struct Fields: Decodable, Equatable {
        let number: UInt16
        let response: Bool
        let truncated: Bool
        let questions: [Question]
        let answers: [Record]
        let authorities: [Record]
        let additionals: [Record]
    }

    struct Question: Decodable, Equatable {
        let name: Hex
        let type: UInt16
        let unicast: Bool
    }

    struct Record: Decodable, Equatable {
        let name: Hex
        let flush: Bool
        let ttl: UInt32
        let type: UInt16
        let data: Hex
    }
}

struct InstanceForm: VectorBody {
    static let type = "dns-instance"
    let instance: Hex
    let txt: Hex
    let fields: Fields?

    struct Fields: Decodable, Equatable {
        let uid: Hex
        let displayName: String
        let entries: [String: String]
    }
}

@Suite("12 Vectors of discovery", .computing)
struct DNSVectorTests {
    @Test(
        "a message is read without its ignored parts, or refused with the reason [dns.form] [dns.limit] [dns.name] [dns.pointer] [dns.ignored]",
        arguments: try VectorFiles.all(DNSForm.self))
    func message(_ vector: Vector<DNSForm>) throws {
        var bytes = vector.body.hex.bytes
        if let padding = vector.body.append {
            bytes += [UInt8](repeating: padding.fill, count: padding.length)
        }
        var fault: Fault?
        do throws(DNSFault) {
            let message = try DNSMessage(bytes.span)
            #expect(DNSForm.Fields(message) == vector.body.fields)
            let written = try message.encoded()
            #expect(try DNSMessage(written.span) == message)
        } catch {
            fault = Fault(check(error), "NONE")
        }
        #expect(fault == vector.fault)
    }

    @Test(
        "a label and a TXT record describe a peer, or are ignored [service.instance] [service.txt]",
        arguments: try VectorFiles.all(InstanceForm.self))
    func instance(_ vector: Vector<InstanceForm>) {
        let uid = Binding.uid(inLabel: vector.body.instance.bytes)
        #expect((uid == nil) == (vector.fault?.check == "label"))
        guard let uid else { return }
        let found = Binding.read(txt: vector.body.txt.bytes, uid: uid)
        #expect((found != nil) == vector.isValid)
        let fields = found.map {
            InstanceForm.Fields(
                uid: Hex($0.peer.uid.bytes), displayName: $0.peer.displayName, entries: $0.info)
        }
        #expect(fields == vector.body.fields)
    }

    private func check(_ fault: DNSFault) -> String {
        switch fault {
        case .tooLong, .tooManyRecords: "limit"
        case .pointer, .tooManyPointers: "pointer"
        case .nameLength, .labelLength: "name"
        case .truncated, .labelType, .data: "form"
        }
    }
}

extension DNSForm.Fields {
    fileprivate init(_ message: DNSMessage) {
        self.init(
            number: message.id, response: message.isResponse, truncated: message.isTruncated,
            questions: message.questions.map {
                DNSForm.Question(name: Hex($0.name.wire), type: $0.type.rawValue, unicast: $0.wantsUnicast)
            },
            answers: message.answers.map(DNSForm.Record.init),
            authorities: message.authorities.map(DNSForm.Record.init),
            additionals: message.additionals.map(DNSForm.Record.init))
    }
}

extension DNSForm.Record {
    fileprivate init(_ record: DNSRecord) {
        self.init(
            name: Hex(record.name.wire), flush: record.isCacheFlush, ttl: record.ttl,
            type: record.type.rawValue, data: Hex(record.data.bytes))
    }
}
