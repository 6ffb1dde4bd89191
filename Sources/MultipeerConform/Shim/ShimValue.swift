import Foundation
import Multipeer
import MultipeerCommandLine

/// One value of JSON.
enum ShimValue: Hashable, Sendable {
    case null
    case flag(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([ShimValue])
    case object([String: ShimValue])

    /// Returns an object with the fields that have a value.
    static func object(with fields: [String: ShimValue?]) -> ShimValue {
        .object(fields.compactMapValues { $0 })
    }

    /// Returns bytes as hexadecimal digits.
    static func hex(_ bytes: [UInt8]) -> ShimValue {
        .text(digits(of: bytes))
    }

    static func digits(of bytes: [UInt8]) -> String {
        String(
            decoding: bytes.flatMap { [ShimValue.digits[Int($0 >> 4)], ShimValue.digits[Int($0 & 15)]] },
            as: UTF8.self)
    }

    static func seconds(_ duration: Duration) -> ShimValue { .number(duration.seconds) }

    static func size(_ count: UInt64) -> ShimValue { .integer(Int(clamping: count)) }

    /// Returns the bytes for pairs of hexadecimal digits; nil for anything else.
    static func bytes(hex text: String) -> [UInt8]? {
        let digits = text.utf8.map { digit($0) }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension ShimValue: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([ShimValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: ShimValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let fields): try container.encode(fields)
        }
    }
}
