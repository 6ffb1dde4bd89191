import MultipeerActors
import TestSupport
import Testing

@Suite("Envelopes", .computing)
struct EnvelopeTests {
    /// Created for each test: kept in a global, the leak checker does not see them, for the pointer of an enumeration's
    /// case carries its tag.
    private static var all: [Envelope] {
        [
            .hello(Envelope.Hello(incarnation: 7, known: 9, calls: 1_024, bytes: 1 << 24, longest: 1 << 20)),
            .call(
                Envelope.Call(
                    number: 1, budget: 30_000, place: .number(3, incarnation: 7),
                    target: "$s1d6WorkerC3addTE",
                    generics: ["Si", "SS"], arguments: [[1], [], [2, 3]])),
            .call(Envelope.Call(number: .max, coding: .json, place: .name("ä"), target: "t")),
            .answer(2, .value(.json, [123, 125])), .answer(3, .done),
            .answer(4, .error(type: "M.Mishap", .binary, [1])),
            .answer(5, .failure(.thrown, type: "M.Secret", text: "the drawer is stuck")), .cancel(6),
            .checkIn(Envelope.CheckIn(key: "tills", type: "1d6WorkerC", place: .name("till"))),
            .bye(7),
            .checkOut(Envelope.CheckIn(key: "tills", type: "1d6WorkerC", place: .number(1, incarnation: 2))),
            .nesting(64),
            .call(Envelope.Call(number: 8, depth: 3, place: .name("a"), target: "t", arguments: [[9]])),
        ]
    }

    private static let indices = 0..<13

    @Test("envelopes survive a round trip", arguments: indices)
    func roundTrip(_ index: Int) throws {
        let envelope = Self.all[index]
        let bytes = envelope.bytes
        let read = try Envelope(bytes.span)
        #expect(read == envelope)
    }

    @Test("the bytes of a call are as documented")
    func bytes() {
        let call = Envelope.Call(
            number: 258, budget: 5, place: .name("a"), target: "$t", generics: ["Si"], arguments: [[7]])
        #expect(
            Envelope.call(call).bytes == [
                0x00, 0x41, 0x43, 0x54, 2, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 5, 0, 1, 0, 1, 0x61, 0, 2, 0x24,
                0x74, 1, 0,
                2, 0x53, 0x69, 1, 0, 0, 0, 1, 7,
            ])
    }

    @Test("a nested call is followed by its depth, and without a depth it is an ordinary call")
    func depth() throws {
        let call = Envelope.Call(number: 258, depth: 2, place: .name("a"), target: "$t", arguments: [[7]])
        let bytes = Envelope.call(call).bytes
        #expect(
            bytes == [
                0x00, 0x41, 0x43, 0x54, 12, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0x61, 0, 2, 0x24,
                0x74, 0, 1, 0, 0, 0, 1, 7, 2,
            ])
        var outer = call
        outer.depth = 0
        let flat = Envelope.call(outer).bytes
        #expect(Array(bytes.dropFirst(5).dropLast()) == Array(flat.dropFirst(5)))
        let shallow = bytes.dropLast() + [0]
        #expect(throws: EnvelopeFault.malformed) { try Envelope(Array(shallow).span) }
    }

    @Test("an envelope that was cut short or is too long is refused", arguments: indices)
    func lengths(_ index: Int) {
        let bytes = Self.all[index].bytes
        for count in 0..<bytes.count {
            // An envelope that ends with any number of bytes is complete again after its header.
            let cut = Array(bytes.prefix(count))
            guard let shorter = try? Envelope(cut.span) else { continue }
            #expect(shorter.bytes == cut)
        }
        let more = bytes + [0]
        if let longer = try? Envelope(more.span) { #expect(longer.bytes == more) }
    }

    @Test(
        "changed bytes are refused, or are read as an envelope that is written back the same",
        arguments: indices)
    func changes(_ index: Int) {
        let envelope = Self.all[index]
        var random = Seeded(5)
        for _ in 0..<300 {
            var bytes = envelope.bytes
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            guard let read = try? Envelope(bytes.span) else { continue }
            #expect(read.bytes == bytes)
        }
    }
}
