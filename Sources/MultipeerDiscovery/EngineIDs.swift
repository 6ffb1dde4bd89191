package import MultipeerCore

/// Identifies one advertisement of an engine; never reused.
package struct AdvertID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: AdvertID, other: AdvertID) -> Bool { one.number < other.number }
}

/// Identifies one browse of an engine; never reused.
package struct BrowseID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: BrowseID, other: BrowseID) -> Bool { one.number < other.number }
}

/// Identifies one resolution of an engine; never reused.
package struct ResolveID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: ResolveID, other: ResolveID) -> Bool { one.number < other.number }
}

/// The addresses at which a peer accepts invitations; empty when it did not respond in time.
package struct Resolution: Hashable, Sendable {
    /// The most promising first; link-local addresses with the interface on which they were received.
    package var candidates: [Candidate]
    package init(candidates: [Candidate] = []) { self.candidates = candidates }
}

/// Why the engine refuses a request. Never caused by the network.
package enum MulticastDNSFault: Error, Hashable, Sendable {
    /// The maximum number of advertisements and browses is reached.
    case tooMany
    /// This peer is already advertised for this service type.
    case advertisedAlready
    /// The engine is shutting down and accepts no more requests.
    case shutDown
}
