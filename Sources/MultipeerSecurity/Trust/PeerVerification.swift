/// How it is known who is at the other end of a link. Everything that shows trust uses the words of its description.
public enum PeerVerification: Hashable, Sendable {
    /// Not at all: the peer holds the key, or the token, that came this way, and anyone may have put it there.
    case unverified(Origin)
    /// The peer has the key that it had at first contact, in seconds since 1970, UTC; nil if the time was not recorded.
    /// `verifiedBy`: how it was verified then, or later; nil if it never was.
    case knownKey(since: Int64?, verifiedBy: Means?)
    /// An authority of the trust policy has certified the key, for the holder of this name. `namesPeer`: whether the certificate
    /// names the peer, by its id or display name; otherwise it proves membership only.
    case certified(subject: String, namesPeer: Bool)
    /// The peer was verified.
    case verified(by: Means)

    /// Where the key of an unverified peer came from.
    public enum Origin: Hashable, Sendable {
        /// It came with an invitation: from the peer that was found on the network, or that invited this one.
        case network
        /// It came with an invitation whose code stays valid: from one of those who have the code, it is not known which.
        case sharedCode
        /// It was in connection data that the application was given. Whether that is proof depends on how it was carried.
        case connectionData
        /// A member of the mesh has introduced the peer.
        case member
        /// The link is plain, so there is no key.
        case plain
    }

    /// How a peer is verified.
    public enum Means: String, Hashable, Sendable {
        /// Both users have confirmed that their verification codes are equal, or used a one-time code.
        case code
        /// The user named the peer by its keyed id.
        case id
        /// The user named the fingerprint of the peer's key.
        case fingerprint
    }

    /// Whether a user or an authority has verified the peer, now or earlier.
    public var isVerified: Bool {
        switch self {
        case .unverified, .knownKey(since: _, verifiedBy: nil), .certified(subject: _, namesPeer: false):
            false
        case .knownKey, .certified, .verified: true
        }
    }

    /// The stronger of several has the higher rank.
    private var rank: Int {
        switch self {
        case .unverified: 0
        case .knownKey(since: _, verifiedBy: nil), .certified(subject: _, namesPeer: false): 1
        case .knownKey: 2
        case .certified: 3
        case .verified: 4
        }
    }

    /// Returns the stronger of the two.
    package func strengthened(by other: PeerVerification?) -> PeerVerification {
        guard let other, other.rank > rank else { return self }
        return other
    }
}

extension PeerVerification: CustomStringConvertible {
    /// The description in words, in lower case. It contains no unescaped text of the peer.
    public var description: String {
        switch self {
        case .unverified(let origin): "unverified: \(origin)"
        case .knownKey(let since, let means):
            "key known" + (since.map { " since \(CalendarDate(secondsSince1970: $0))" } ?? "")
                + (means.map { ", \(PeerVerification.verified(by: $0))" } ?? ", never verified")
        case .certified(let subject, let namesPeer):
            "certified by CA: \(subject)" + (namesPeer ? "" : ", which does not name the peer")
        case .verified(let means): "verified by \(means)"
        }
    }
}

extension PeerVerification.Origin: CustomStringConvertible {
    /// The origin in words, in lower case.
    public var description: String {
        switch self {
        case .network: "found on the network"
        case .sharedCode: "has the code that its group shares"
        case .connectionData: "connection data carried by hand"
        case .member: "introduced by another member"
        case .plain: "not encrypted"
        }
    }
}

extension PeerVerification.Means: CustomStringConvertible {
    /// The means in words, in lower case.
    public var description: String {
        switch self {
        case .code: "code"
        case .id: "its id"
        case .fingerprint: "its fingerprint"
        }
    }
}
