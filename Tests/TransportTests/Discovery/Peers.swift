import MultipeerCore
import MultipeerDiscovery
import MultipeerTransport
import Testing

extension UID {
    /// Returns a uid that no other peer has.
    static func random() throws -> UID {
        var randomness = SystemRandomness()
        return try #require(UID(randomness.bytes(byteCount)))
    }
}

extension PeerID {
    init(_ name: String) throws { try self.init(validating: .random(), displayName: name) }
}

extension ServiceType {
    /// One that no other test looks for: all of a machine share the loopback interface.
    static func random() throws -> ServiceType {
        var randomness = SystemRandomness()
        let letters = randomness.bytes(12).map { UInt8(ascii: "a") + $0 % 26 }
        return try ServiceType(parsing: "t-" + String(decoding: letters, as: UTF8.self))
    }
}
