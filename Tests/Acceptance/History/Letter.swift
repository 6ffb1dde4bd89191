import Foundation

/// A numbered message, which contains what a history records of it.
package struct Letter: Codable, Equatable, Sendable {
    /// The sender's instance.
    package var from: String
    package var number: UInt64
    /// Padding to the wanted length.
    package var body: String

    package init(from: String, number: UInt64, length: Int) {
        self.from = from
        self.number = number
        var chance = SystemRandomNumberGenerator()
        body = String(
            decoding: (0..<length).map { _ in UInt8.random(in: 0x30...0x7a, using: &chance) }, as: UTF8.self)
    }

    /// The encoded message.
    package var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map(Array.init) ?? [] }

    /// Reads what `bytes` wrote; nil for anything else.
    package init?(_ bytes: [UInt8]) {
        guard let letter = try? JSONDecoder().decode(Letter.self, from: Data(bytes)) else { return nil }
        self = letter
    }

    /// Returns 64 bits that differ when any byte does (FNV-1a), in hexadecimal.
    package static func hash(_ bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
