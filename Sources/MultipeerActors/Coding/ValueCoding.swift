import Foundation
import Distributed
import Multipeer

/// Encodes and decodes one argument, result or error in either format.
enum ValueCoding {
    static func encode(_ value: some Encodable, _ coding: Coding, _ attachments: Attachments) throws
        -> [UInt8]
    {
        switch coding {
        case .binary: return try BinaryEncoder(userInfo: { [.attachments: attachments] }).encode(value)
        case .json:
            let encoder = JSONEncoder()
            encoder.userInfo = [.attachments: attachments]
            return Array(try encoder.encode(value))
        }
    }

    static func decode<Value: Decodable>(
        _ coding: Coding, _ bytes: [UInt8], _ info: @escaping () -> [CodingUserInfoKey: any Sendable]
    ) throws -> Value {
        switch coding {
        case .binary: return try BinaryDecoder(userInfo: info).decode(Value.self, from: bytes)
        case .json:
            let decoder = JSONDecoder()
            decoder.userInfo = info()
            return try decoder.decode(Value.self, from: Data(bytes))
        }
    }
}

extension CodingUserInfoKey {
    /// The `PeerID` of the sender of the value that is being decoded.
    static let sender = key("org.swift-multipeer.sender")
    /// Collects the streams and files of the value that is being encoded.
    static let attachments = key("org.swift-multipeer.attachments")

    private static func key(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else {
            preconditionFailure("a key was rejected")
        }
        return key
    }
}
