import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import TestSupport
import Testing

@Suite("17 Extensions", .computing)
struct ExtensionTests {
    @Test("a HELLO lists every supported version and one of GREASE [ext.versions] [ext.grease]")
    func versions() throws {
        for seed in 0..<64 {
            let hello = try hello(seed: UInt64(seed))
            #expect(hello.versions.filter { !Grease.contains($0) } == Hello.spoken)
            #expect(hello.versions.count == Hello.spoken.count + 1)
        }
    }

    @Test("no version of GREASE, or one that only the peer supports, is agreed on [ext.versions]")
    func choice() throws {
        for nibble: UInt64 in 0..<16 {
            #expect(try chosen([Grease.version(nibble)]) == nil)
            #expect(try chosen([Grease.version(nibble), 1]) == 1)
        }
        #expect(try chosen([2, 1]) == 1)
        #expect(try chosen([0, 2, 0xFFFF]) == nil)
    }

    @Test("frames sent have assigned numbers, or those of GREASE [ext.reserved]")
    func sent() throws {
        for seed in 0..<64 {
            let hello = try frame(seed: UInt64(seed))
            #expect(try unassigned(Array(hello.dropFirst(8)), known: 1...9) == [])
            var session = try LinkEstablishment(stranger(UID(high: 1, low: 1)), seed: UInt64(seed))
            let data = try session.issue(for: nil, at: .start)
            #expect(try unassigned(Array(data.bytes.dropFirst(8).dropLast(8)), known: 1...16) == [])
            #expect(data.flags.rawValue & ~7 == 0)
        }
    }

    @Test("a reserved kind is refused, including those for relays [ext.reserved] [frame.unknown]")
    func kinds() {
        let assigned: [ClosedRange<UInt8>] = [
            0x01...0x09, 0x10...0x11, 0x20...0x28, 0x30...0x34, 0x40...0x44,
        ]
        for number in UInt8(0)...0x7F where !assigned.contains(where: { $0.contains(number) }) {
            for channel: UInt32 in [0, 1] {
                var end = LinkEndpoint()
                end.receive([0, 0, 0, number, 0, 0, 0, UInt8(channel)])
                #expect(end.violation == .framing(.unknownKind(number)), "kind \(number)")
            }
        }
    }

    private func chosen(_ versions: [UInt16]) throws -> UInt16? {
        var hello = try hello(seed: 0)
        hello.versions = versions
        return hello.version
    }

    private func hello(seed: UInt64) throws -> Hello {
        let frame = try frame(seed: seed)
        return try Hello(frame.span.extracting(8..<frame.count))
    }

    /// Returns the first frame of a session on a connection that it dialled.
    private func frame(seed: UInt64) throws -> [UInt8] {
        var one = try LinkEstablishment(stranger(UID(high: 1, low: 1)), seed: seed)
        var other = try LinkEstablishment(stranger(UID(high: 2, low: 2)), seed: seed)
        _ = try one.issue(for: nil, at: .start)
        _ = try one.connect(with: other.issue(for: nil, at: .start), zones: [], at: .start)
        for case .dial(let id, _, accepting: _) in one.takeActions() {
            one.secured(id, .plain, nonce: [UInt8](repeating: 1, count: 32), at: .start)
        }
        for case .send(_, let frame) in one.takeActions() { return frame }
        return []
    }

    /// The types in a list that the text does not assign and that are no GREASE either.
    private func unassigned(_ list: [UInt8], known: ClosedRange<UInt16>) throws -> [UInt16] {
        var reader = TLVReader(TLVSchema(known: Array(0...0x7FFF), repeatable: [16]))
        var types: [UInt16] = []
        while let field = try reader.next(in: list.span) { types.append(field.type) }
        return types.filter { !known.contains($0) && !Grease.contains($0) }
    }
}
