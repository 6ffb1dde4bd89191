import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("4 Connection data", .computing)
struct ConnectionDataTests {
    /// One break of each numbered check, the rest of the blob being right.
    enum Break: String, CaseIterable, CustomTestStringConvertible {
        case size, magic, version, length, checksum, fields, peer, instance, preference, fingerprint, token
        case lifetime, recipient, candidates

        var testDescription: String { rawValue }

        func apply(to blob: inout Blob) {
            switch self {
            case .size: blob.filling = [UInt8](repeating: 0, count: 1_025 - Blob().bytes.count)
            case .magic: blob.magic = Array("MPCE".utf8)
            case .version: blob.version = 2
            case .length: blob.lengthIsOff = 1
            case .checksum: blob.checksumIsOff = true
            case .fields: blob.fields[0x8001] = [[]]
            case .peer: blob.fields[1] = nil
            case .instance: blob.fields[2] = [[UInt8](repeating: 1, count: 7)]
            case .preference: blob.fields[3] = [[3]]
            case .fingerprint: blob.fields[4] = nil
            case .token: blob.fields[5] = [[UInt8](repeating: 1, count: 31)]
            case .lifetime: blob.fields[6] = nil
            case .recipient: blob.fields[8] = [[UInt8](repeating: 1, count: 15)]
            case .candidates: blob.fields[16] = nil
            }
        }

        var expected: InvalidConnectionData {
            switch self {
            case .size: .size(1_025)
            case .magic: .magic
            case .version: .version(2)
            case .length: .length(stated: Blob().bytes.count + 1, actual: Blob().bytes.count)
            case .checksum: .checksum
            case .fields: .fields
            case .peer: .peer
            case .instance: .instance
            case .preference: .preference
            case .fingerprint: .fingerprint
            case .token: .token
            case .lifetime: .lifetime
            case .recipient: .recipient
            case .candidates: .candidates
            }
        }
    }

    @Test(
        "each check, broken alone, is the one that fails [data.length] [data.magic] [data.version] [data.checksum] [data.peer] [data.instance] [data.preference] [data.fingerprint] [data.token] [data.lifetime] [data.recipient] [data.candidates]",
        arguments: Break.allCases)
    func check(_ broken: Break) throws {
        var blob = Blob()
        broken.apply(to: &blob)
        let number = try #require(Break.allCases.firstIndex(of: broken)) + 1
        #expect(throws: broken.expected) { try ConnectionData(parsing: blob.bytes) }
        #expect(broken.expected.check == number)
        #expect(broken.expected.closeCode == (broken == .version ? .version : .protocolError))
    }

    @Test("of two failed checks the first decides", arguments: Break.allCases)
    func order(_ first: Break) throws {
        // Size and length are properties of the same bytes: the second of them cannot be broken beside the first.
        for second in Break.allCases where second.expected.check > first.expected.check && first != .size {
            var blob = Blob()
            second.apply(to: &blob)
            first.apply(to: &blob)
            let error = #expect(throws: InvalidConnectionData.self) {
                try ConnectionData(parsing: blob.bytes)
            }
            #expect(error?.check == first.expected.check, "with \(second)")
        }
    }

    @Test("truncated data is refused at every length [data.length]")
    func prefixes() {
        let bytes = Blob().bytes
        for count in 0..<bytes.count {
            #expect(throws: InvalidConnectionData.self, "\(count) bytes") {
                try ConnectionData(parsing: Array(bytes.prefix(count)))
            }
        }
    }

    @Test("one bit changed anywhere is refused [data.checksum]")
    func bits() {
        let bytes = Blob().bytes
        for bit in 0..<(8 * bytes.count) {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: InvalidConnectionData.self, "bit \(bit)") { try ConnectionData(parsing: changed) }
        }
    }

    @Test(
        "data that is read is written back byte for byte; unknown flags and entries are ignored [data.flags]")
    func roundTrip() throws {
        var blob = Blob()
        #expect(try ConnectionDataFields(decoding: blob.bytes).encoded(grease: nil) == blob.bytes)
        #expect(try ConnectionData(parsing: blob.bytes).bytes == blob.bytes)
        blob.flags = 0xF8
        let data = try ConnectionData(parsing: blob.bytes)
        #expect(data.flags.isDisjoint(with: [.mesh, .identity, .datagrams]))
        let plain = blob.bytes
        blob.fields[0x0A0A] = [[1, 2]]
        let greased = try ConnectionData(parsing: blob.bytes)
        #expect(greased.peer == data.peer && greased != data)
        #expect(try ConnectionDataFields(decoding: blob.bytes).encoded(grease: nil) == plain)
    }

    @Test(
        "1,024 bytes, a name of 63 and 16 candidates are valid, one more is not [data.length] [data.candidates]"
    )
    func limits() throws {
        var blob = Blob()
        let rest = 1_024 - blob.bytes.count - 4
        blob.fields[0x0A0A] = [[UInt8](repeating: 0, count: rest)]
        #expect(try ConnectionData(parsing: blob.bytes).bytes.count == 1_024)
        blob.fields[0x0A0A] = [[UInt8](repeating: 0, count: rest + 1)]
        #expect(throws: InvalidConnectionData.size(1_025)) { try ConnectionData(parsing: blob.bytes) }
        #expect(throws: InvalidConnectionData.size(23)) {
            try ConnectionData(parsing: Array(blob.bytes.prefix(23)))
        }

        blob = Blob()
        blob.fields[1] = [[UInt8](repeating: 1, count: 16) + [UInt8](repeating: 0x61, count: 63)]
        #expect(try ConnectionData(parsing: blob.bytes).peer.displayName.utf8.count == 63)
        blob.fields[1] = [[UInt8](repeating: 1, count: 16) + [UInt8](repeating: 0x61, count: 64)]
        #expect(throws: InvalidConnectionData.peer) { try ConnectionData(parsing: blob.bytes) }

        blob = Blob()
        blob.fields[16] = Array(repeating: Blob.candidate, count: 16)
        #expect(try ConnectionData(parsing: blob.bytes).candidates.count == 16)
        blob.fields[16] = Array(repeating: Blob.candidate, count: 17)
        #expect(throws: InvalidConnectionData.candidates) { try ConnectionData(parsing: blob.bytes) }
    }

    @Test("its description contains nothing secret")
    func description() throws {
        let data = try ConnectionData(parsing: Blob().bytes)
        #expect("\(data)" == "connection data of Ann")
    }
}

/// A blob, field by field, so that each can be wrong alone. Written from chapter 4, not with the code under test.
struct Blob {
    var magic = Array("MPCD".utf8)
    var version: UInt8 = 1
    var flags: UInt8 = 0
    var lengthIsOff = 0
    var checksumIsOff = false
    /// Bytes after the fields.
    var filling: [UInt8] = []
    /// Type → values.
    var fields: [UInt16: [[UInt8]]] = [
        1: [[UInt8](repeating: 0xA1, count: 16) + Array("Ann".utf8)],
        2: [[0, 1, 2, 3, 4, 5, 6, 7]],
        3: [[0]],
        4: [[1] + [UInt8](repeating: 0xF1, count: 32)],
        5: [[UInt8](repeating: 0x70, count: 32)],
        6: [[0, 0, 2, 0x58]],
        8: [[UInt8](repeating: 0xB1, count: 16)],
        16: [Blob.candidate],
    ]

    static let candidate: [UInt8] = [4, 0xC0, 0x00, 192, 0, 2, 1]

    var bytes: [UInt8] {
        var body: [UInt8] = []
        for (type, values) in fields.sorted(by: { $0.key < $1.key }) {
            for value in values { body += Self.number(Int(type)) + Self.number(value.count) + value }
        }
        body += filling
        let size = 8 + body.count + 8
        let start = magic + [version, flags] + Self.number(size + lengthIsOff) + body
        var checksum = Array(SHA256.hash(start).prefix(8))
        if checksumIsOff { checksum[7] ^= 1 }
        return start + checksum
    }

    private static func number(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
}
