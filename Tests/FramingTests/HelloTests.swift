import MultipeerFraming
import TestSupport
import Testing

@Suite("6.2 HELLO", .computing)
struct HelloTests {
    /// The nine fields of the sample, in order.
    static let fields: [[UInt8]] = {
        let sizes = [4, 24, 24, 32, 32, 32, 20, 49, 7]
        var rest = Samples.bytes(.hello(Samples.hello)).dropFirst(8)
        return sizes.map { size in
            defer { rest = rest.dropFirst(4 + size) }
            return Array(rest.prefix(4 + size))
        }
    }()

    static func hello(replacing type: Int, with value: [UInt8]) -> [UInt8] {
        var some = fields
        some[type - 1] = [0, UInt8(type), 0, UInt8(value.count)] + value
        return Samples.raw(0x01, some.flatMap { $0 })
    }

    @Test("fields 1 to 8 are mandatory, the agent is not [hello.complete]", arguments: 1...9)
    func missing(_ type: Int) {
        var some = HelloTests.fields
        some.remove(at: type - 1)
        #expect(
            fault(Samples.raw(0x01, some.flatMap { $0 })) == (type == 9 ? nil : .missingField(UInt16(type))))
    }

    @Test("each field has the size of its type [hello.complete]", arguments: 2...7)
    func sizes(_ type: Int) {
        let size = HelloTests.fields[type - 1].count - 4
        for wrong in [0, size - 1, size + 1] {
            let bytes = HelloTests.hello(replacing: type, with: [UInt8](repeating: 1, count: wrong))
            #expect(fault(bytes) == .wrongFieldLength(UInt16(type), wrong))
        }
    }

    @Test("there is at least one version, and each has two bytes [hello.complete]")
    func versions() {
        #expect(fault(HelloTests.hello(replacing: 1, with: [])) == .wrongFieldLength(1, 0))
        #expect(fault(HelloTests.hello(replacing: 1, with: [0, 1, 0])) == .wrongFieldLength(1, 3))
        #expect(fault(HelloTests.hello(replacing: 1, with: [0, 1])) == nil)
    }

    @Test("the number of members matches the count, at most 32 [hello.complete]")
    func members() {
        #expect(fault(HelloTests.hello(replacing: 8, with: [])) == .truncated)
        #expect(fault(HelloTests.hello(replacing: 8, with: [0])) == nil)
        #expect(fault(HelloTests.hello(replacing: 8, with: [0, 1])) == .trailingBytes(1))
        let short = [1] + [UInt8](repeating: 0, count: 23)
        #expect(fault(HelloTests.hello(replacing: 8, with: short)) == .truncated)
        #expect(fault(HelloTests.hello(replacing: 8, with: [33])) == .tooManyMembers(33))
    }

    @Test("a receiver accepts messages of at least 65,536 bytes [msg.max]")
    func smallestMaxMessage() throws {
        var hello = Samples.hello
        hello.limits.maxMessage = 65_536
        #expect(try decode(Samples.bytes(.hello(hello))) == .hello(hello))
        hello.limits.maxMessage = 65_535
        #expect(fault(Samples.bytes(.hello(hello))) == .wrongFieldValue(7))
    }

    @Test("the agent is UTF-8 of at most 64 bytes")
    func agent() {
        func agent(_ count: Int) -> FramingError? {
            fault(HelloTests.hello(replacing: 9, with: [UInt8](repeating: 0x61, count: count)))
        }
        #expect(agent(64) == nil)
        #expect(agent(65) == .wrongFieldLength(9, 65))
        #expect(fault(HelloTests.hello(replacing: 9, with: [0x80])) == .invalidText)
    }

    @Test("a grease field changes nothing [tlv.grease] [tlv.unknown]", arguments: UInt64(0)..<64)
    func grease(_ random: UInt64) throws {
        var buffer = ByteBuffer()
        Samples.hello.encode(into: &buffer, grease: random)
        let bytes = buffer.takeAll()
        #expect(bytes.count > Samples.bytes(.hello(Samples.hello)).count)
        #expect(try decode(bytes, limit: Limits.frameBeforeSelect) == .hello(Samples.hello))
    }

    @Test("the longest HELLO of this side fits before SELECT [frame.limit-before]")
    func longest() throws {
        var hello = Samples.hello
        hello.versions = [1, 0xFAFA]
        hello.members = Array(repeating: Samples.bob, count: 32)
        hello.agent = String(repeating: "x", count: 64)
        var buffer = ByteBuffer()
        hello.encode(into: &buffer, grease: .max)
        #expect(try decode(buffer.takeAll(), limit: Limits.frameBeforeSelect) == .hello(hello))
    }
}
