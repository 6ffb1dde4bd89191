import Foundation
import MultipeerActors
import TestSupport
import Testing

/// What a coder has to get right, in one value.
private struct Everything: Codable, Equatable {
    enum Shape: Codable, Equatable {
        case point
        case circle(radius: Double)
        case polygon([Double], closed: Bool)
    }

    final class Base: Codable, Equatable {
        var id: Int
        init(id: Int) { self.id = id }
        static func == (one: Base, other: Base) -> Bool { one.id == other.id }
    }

    var integers: [Int64] = [0, 23, 24, 255, 256, 65_535, 65_536, 1 << 32, .max, -1, -24, -25, .min]
    var unsigned: [UInt64] = [0, .max]
    var small: [Int8] = [-128, 127]
    var float: Float = 1.5
    var doubles = [0.1, -0.0, .infinity, 1e308]
    var flag = true
    var text = "grüß 🎈\0"
    var data = Data([1, 2, 3])
    var bytes: [UInt8] = [4, 5]
    var none: Int?
    var some: Int? = 5
    var optionals: [Int?] = [1, nil, 3]
    var nested: [String: [String: [Int]]] = ["a": ["b": [1]], "": [:]]
    var byNumber: [Int: String] = [7: "seven"]
    var shapes: [Shape] = [.point, .circle(radius: 2), .polygon([1, 2], closed: false)]
    var date = Date(timeIntervalSinceReferenceDate: 123.5)
    var id = UUID()
    var url = URL(string: "https://example.org/x")
    var base = Base(id: 9)
    var many = Array(0..<300)
    var wide = Dictionary(uniqueKeysWithValues: (0..<30).map { ("key \($0)", $0) })
}

/// Fills containers in an order that is none.
private struct Backwards: Codable, Equatable {
    var first = [1, 2]
    var second = ["x": 1]
    enum Keys: String, CodingKey { case first, second, third }

    init() {}

    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Keys.self)
        var list = outer.nestedUnkeyedContainer(forKey: .first)
        var map = outer.nestedContainer(keyedBy: Keys.self, forKey: .second)
        try outer.encode("between", forKey: .third)
        try map.encode(second, forKey: .first)
        for number in first { try list.encode(number) }
    }

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Keys.self)
        var list = try outer.nestedUnkeyedContainer(forKey: .first)
        first = []
        while !list.isAtEnd { first.append(try list.decode(Int.self)) }
        second = try outer.nestedContainer(keyedBy: Keys.self, forKey: .second).decode(
            [String: Int].self, forKey: .first)
    }
}

private indirect enum Chain: Codable, Equatable {
    case end
    case link(Chain)
}

@Suite("The binary format", .computing)
struct CodingTests {
    private func encode(_ value: some Encodable) throws -> [UInt8] { try BinaryEncoder().encode(value) }

    private func decode<Value: Decodable>(_ type: Value.Type = Value.self, _ bytes: [UInt8]) throws -> Value {
        try BinaryDecoder().decode(type, from: bytes)
    }

    @Test("a value of every kind is itself again")
    func everything() throws {
        let value = Everything()
        #expect(try decode(Everything.self, encode(value)) == value)
        let none: Int? = nil
        #expect(try decode(Int?.self, encode(none)) == nil)
    }

    @Test("containers may be filled in any order")
    func order() throws {
        let value = Backwards()
        #expect(try decode(Backwards.self, encode(value)) == value)
    }

    @Test(
        "the bytes are those of RFC 8949",
        arguments: [
            (0, [0x00]), (23, [0x17]), (24, [0x18, 24]), (-1, [0x20]), (-500, [0x39, 0x01, 0xF3]),
            (1_000_000, [0x1A, 0x00, 0x0F, 0x42, 0x40]),
        ] as [(Int, [UInt8])])
    func integers(_ number: Int, _ bytes: [UInt8]) throws {
        #expect(try encode(number) == bytes)
        #expect(try decode(Int.self, bytes) == number)
    }

    @Test("so are those of containers, texts and byte strings")
    func containers() throws {
        #expect(try encode(["a": [1, 2]]) == [0xA1, 0x61, 0x61, 0x82, 1, 2])
        #expect(try encode([UInt8](arrayLiteral: 1, 2)) == [0x42, 1, 2])
        #expect(try encode([true, false]) == [0x82, 0xF5, 0xF4])
        #expect(try encode(1.5) == [0xFB, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0])
        #expect(try encode(Array(repeating: 0, count: 24)).prefix(2) == [0x98, 24])
        #expect(try encode(Array(repeating: 0, count: 256)).prefix(3) == [0x99, 1, 0])
    }

    @Test("numbers that do not fit, and values of another kind, are errors")
    func mismatches() throws {
        #expect(throws: DecodingError.self) { try decode(UInt8.self, encode(256)) }
        #expect(throws: DecodingError.self) { try decode(UInt.self, encode(-1)) }
        #expect(throws: DecodingError.self) { try decode(Int.self, encode(UInt64.max)) }
        #expect(throws: DecodingError.self) { try decode(Int.self, encode("1")) }
        #expect(throws: DecodingError.self) { try decode([Int].self, encode(["a": 1])) }
        #expect(throws: DecodingError.self) { try decode([String: Int].self, encode([1])) }
        #expect(throws: DecodingError.self) { try decode(Tile.self, encode(["name": "x"])) }
    }

    @Test(
        "bytes that are no value are errors, whatever lengths they claim",
        arguments: [
            [], [0x18], [0x1C], [0x5B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xBB, 0, 0, 0, 0, 0x80, 0, 0, 0],
            [0x9F, 0xFF], [0xC1, 0x00], [0xF9, 0x3C, 0x00], [0x00, 0x00], [0x62, 0xC3, 0x28], [0xF7],
            [0xA1, 0x01, 0x02],
        ] as [[UInt8]])
    func junk(_ bytes: [UInt8]) {
        #expect(throws: DecodingError.self) { try decode([String: String].self, bytes) }
        #expect(throws: DecodingError.self) { try decode(String.self, bytes) }
        #expect(throws: DecodingError.self) { try decode([Int].self, bytes) }
    }

    /// A map of texts, each with a number.
    private func map(_ entries: [(String, UInt8)]) -> [UInt8] {
        precondition(entries.count < 0x1_0000 && entries.allSatisfy { $0.0.utf8.count < 24 && $0.1 < 24 })
        let head: [UInt8] = [0xB9, UInt8(entries.count >> 8), UInt8(entries.count & 255)]
        return head + entries.flatMap { [0x60 | UInt8($0.0.utf8.count)] + $0.0.utf8 + [$0.1] }
    }

    private struct Couple: Decodable {
        var a: Int
        var b: Int

        enum CodingKeys: CodingKey { case a, b }

        /// The second first.
        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            b = try values.decode(Int.self, forKey: .b)
            a = try values.decode(Int.self, forKey: .a)
        }
    }

    @Test("a map in which a key occurs twice is an error, in whatever order it is read")
    func keysTwice() throws {
        #expect(try decode(Couple.self, map([("a", 1), ("b", 2), ("c", 3)])).a == 1)
        #expect(throws: DecodingError.self) {
            try decode(Couple.self, map([("a", 1), ("b", 2), ("a", 3)]))
        }
        // Other bytes are another key, whatever a text says.
        let letters = map([("\u{E9}", 1), ("e\u{301}", 2)])
        #expect(throws: Never.self) { try decode([String: Int].self, letters) }
        let many = (0..<20_000).map { ("\($0)", UInt8(1)) }
        #expect(try decode([String: Int].self, map(many)).count == many.count)
        #expect(throws: DecodingError.self) { try decode([String: Int].self, map(many + [("7", 2)])) }
    }

    @Test("a map with a key that is not text is an error, also where nobody asks for it")
    func otherKeys() throws {
        let skipped: [UInt8] = [0xA3, 0x61, 0x61, 1, 0x61, 0x62, 2, 0x61, 0x63]
        #expect(try decode(Couple.self, skipped + [0xA1, 0x61, 0x64, 4]).b == 2)
        for key in [0x01, 0x41, 0xF6, 0x80] as [UInt8] {
            let map = [0xA1, key] + (key == 0x41 ? [0x64] : []) + [4]
            #expect(throws: DecodingError.self) { try decode(Couple.self, skipped + map) }
        }
    }

    @Test("what is nested deeper than 64 levels is neither written nor read")
    func depth() throws {
        var chain = Chain.end
        for _ in 0..<20 { chain = .link(chain) }
        #expect(try decode(Chain.self, encode(chain)) == chain)
        for _ in 0..<60 { chain = .link(chain) }
        #expect(throws: EncodingError.self) { try encode(chain) }
        let bytes = [UInt8](repeating: 0x81, count: 100_000) + [0x80]
        #expect(throws: DecodingError.self) { try decode([Int].self, bytes) }
    }

    @Test("changed bytes are a value or an error")
    func changes() throws {
        var random = Seeded(8)
        let bytes = try encode(Everything())
        for _ in 0..<Sanitizer.fewer(3_000) {
            var changed = bytes
            changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(
                in: 0...255, using: &random)
            _ = try? decode(Everything.self, changed)
        }
    }
}
