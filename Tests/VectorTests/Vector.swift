import Foundation
import Testing

/// One test of a file in `Spec/vectors`: what all kinds have in common, and the body that its kind adds.
struct Vector<Body: VectorBody>: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    let isValid: Bool
    /// Nil for what is valid, and where a kind gives no code.
    let fault: Fault?
    let body: Body

    var testDescription: String { id }

    private enum Key: CodingKey { case id, result, check, error }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        id = try fields.decode(String.self, forKey: .id)
        isValid = try fields.decode(String.self, forKey: .result) == "valid"
        let number = try? fields.decode(Int.self, forKey: .check)
        let check = try number.map { "\($0)" } ?? fields.decodeIfPresent(String.self, forKey: .check)
        let code = try fields.decodeIfPresent(String.self, forKey: .error)
        fault = check.flatMap { check in code.map { Fault(check, $0) } }
        body = try Body(from: decoder)
    }
}

/// What a kind of vector has besides; its `type` is that of the group.
protocol VectorBody: Decodable, Sendable {
    static var type: String { get }
}

/// Which check failed, and what is answered to it.
struct Fault: Equatable, CustomStringConvertible {
    let check: String
    let code: String

    init(_ check: String, _ code: String) {
        self.check = check
        self.code = code
    }

    var description: String { "check \(check), \(code)" }
}

/// Bytes, in the files lower-case hexadecimal.
struct Hex: Decodable, Equatable, Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { throw NotHexadecimal(text: text) }
        bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private struct NotHexadecimal: Error { let text: String }
}
