import Multipeer
import MultipeerCore

/// Two sessions of this process that are linked.
struct Couple: Sendable {
    let one: Session
    let other: Session

    /// Links them, and takes the resulting events of both.
    static func linked(
        _ preference: EncryptionPreference = .required
    ) async throws -> Couple {
        var configuration = Endurance.loopback
        configuration.encryption = preference
        let couple = Couple(
            one: try Session(peer: PeerID(displayName: "one"), configuration: configuration),
            other: try Session(peer: PeerID(displayName: "other"), configuration: configuration))
        let (ones, others) = (try await couple.one.connectionData(), try await couple.other.connectionData())
        async let first: Void = couple.one.connect(with: others)
        async let second: Void = couple.other.connect(with: ones)
        _ = try await (first, second)
        _ = try await Endurance.talk(couple.one, couple.other)
        return couple
    }

    func leave() async {
        async let first: Void = one.disconnect()
        async let second: Void = other.disconnect()
        _ = await (first, second)
    }
}
