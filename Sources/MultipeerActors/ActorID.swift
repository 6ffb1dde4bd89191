import Multipeer
public import MultipeerCore

/// The address of an actor: its peer, and its place there. No two actors of a mesh have the same address.
///
/// A numbered address belongs to one system of that peer, for as long as the system lives: a peer that comes back has other
/// actors. A named one refers to the actor that has the name at that peer now.
public struct ActorID: Hashable, Sendable {
    /// The place of an actor at its peer.
    public enum Place: Hashable, Sendable {
        /// The random number that the system of this incarnation gave it. An incarnation is a random number, new for each system.
        case number(UInt64, incarnation: UInt64)
        /// A name of 1 to 255 bytes, given with `PeerActorSystem.named(_:_:)`. Names with different bytes differ, even where a
        /// `String` would be equal: `é` can be one scalar, or an `e` and an accent.
        case name(String)
    }

    /// The peer of the actor.
    public let peer: PeerID
    /// The place of the actor at that peer.
    public let place: Place

    init(peer: PeerID, place: Place) {
        self.peer = peer
        self.place = place
    }

    /// Creates the address of the actor with this name at that peer, whether or not there is one.
    ///
    /// Throws `invalidArgument` unless the name has 1 to 255 bytes.
    public init(_ name: String, at peer: PeerID) throws(ActorCallError) {
        guard ActorID.isName(name) else {
            throw ActorCallError(.invalidArgument, "a name has 1 to 255 bytes, not \(name.utf8.count)")
        }
        self.init(peer: peer, place: .name(name))
    }

    static func isName(_ name: String) -> Bool { (1...255).contains(name.utf8.count) }
}

extension ActorID: Codable {
    private enum CodingKeys: String, CodingKey {
        case peer = "p", incarnation = "i", number = "n", name = "a"
    }

    /// Reads what `encode` wrote; throws `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        peer = try container.decode(PeerID.self, forKey: .peer)
        guard let name = try container.decodeIfPresent(String.self, forKey: .name) else {
            place = .number(
                try container.decode(UInt64.self, forKey: .number),
                incarnation: try container.decode(UInt64.self, forKey: .incarnation))
            return
        }
        guard ActorID.isName(name) else {
            throw DecodingError.dataCorruptedError(
                forKey: .name, in: container, debugDescription: "a name has 1 to 255 bytes")
        }
        place = .name(name)
    }

    /// Writes the peer, and the name or the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(peer, forKey: .peer)
        switch place {
        case .name(let name): try container.encode(name, forKey: .name)
        case .number(let number, let incarnation):
            try container.encode(incarnation, forKey: .incarnation)
            try container.encode(number, forKey: .number)
        }
    }
}

extension ActorID: CustomStringConvertible {
    /// One line for a log: `worker@ann`, or `7@ann`.
    public var description: String {
        switch place {
        case .name(let name): "\(name)@\(peer)"
        case .number(let number, _): "\(number)@\(peer)"
        }
    }
}
