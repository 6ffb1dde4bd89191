import Foundation
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: JSON", .computing)
struct JSONTests {
    private struct Everything: Codable, Equatable {
        enum Word: String, Codable { case yes, no }

        var text = "a/b \"c\" \\ \n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f} \u{e9}\u{1f980}\u{2028}"
        var word = Word.yes
        var flag = true
        var whole = 3.0
        var part = -0.25
        var large: UInt64 = .max
        var small: Int8 = .min
        var missing: Int?
        var there: Int? = 1
        var list = [1, 2, 3]
        var none: [Int] = []
        var gaps: [Int?] = [nil, 2]
        var fields = ["b": "2", "a": "1"]
        var bare: [String: Int] = [:]
        var nested = [["x": [Word.no]]]
    }

    @Test("what is written is read as the same by another reader", arguments: [false, true])
    func readable(_ isPretty: Bool) throws {
        let text = try JSON.encode(Everything(), isPretty: isPretty)
        #expect(try JSONDecoder().decode(Everything.self, from: Data(text)) == Everything())
        #expect(text.last == UInt8(ascii: "\n"))
        #expect((text.count { $0 == UInt8(ascii: "\n") } > 1) == isPretty)
    }

    @Test("what controls a terminal, or changes the direction of text there, is escaped")
    func terminal() throws {
        let text = try JSON.encode("a\u{1b}[2J\u{7f}\u{9b}1m\u{202e}x\u{e0041}é🦀", isPretty: false)
        let shown = #""a\u001b[2J\u007f\u009b1m\u202ex\udb40\udc41é🦀""# + "\n"
        #expect(String(decoding: text, as: UTF8.self) == shown)
    }

    @Test("a value is on one line, or indented, with sorted keys, and without fields that are nil")
    func form() throws {
        struct Pair: Encodable {
            var b: [Double]?
            var a: [String: Int]
        }
        let (full, empty) = (Pair(b: [1, 0.5], a: ["z/": 1, "y": 2]), Pair(a: [:]))
        #expect(try String(decoding: JSON.encode(empty, isPretty: false), as: UTF8.self) == "{\"a\":{}}\n")
        let line = try String(decoding: JSON.encode(full, isPretty: false), as: UTF8.self)
        #expect(line == "{\"a\":{\"y\":2,\"z/\":1},\"b\":[1,0.5]}\n")
        let lines = """
            {
              "a" : {
                "y" : 2,
                "z/" : 1
              },
              "b" : [
                1,
                0.5
              ]
            }

            """
        #expect(try String(decoding: JSON.encode(full), as: UTF8.self) == lines)
    }

    @Test("a number that JSON does not have is an error", arguments: [Double.nan, .infinity, -.infinity])
    func numbers(_ number: Double) {
        #expect(throws: CommandError("cannot write JSON", exit: .system)) { try JSON.encode([number]) }
    }
}
