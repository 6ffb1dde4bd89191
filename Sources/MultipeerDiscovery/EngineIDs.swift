package import MultipeerCore

/// One advertisement of an engine's; never used for another.
package struct AdvertID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: AdvertID, other: AdvertID) -> Bool { one.number < other.number }
}

/// One browse of an engine's; never used for another.
package struct BrowseID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: BrowseID, other: BrowseID) -> Bool { one.number < other.number }
}

/// One resolution of an engine's; never used for another.
package struct ResolveID: Hashable, Comparable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (one: ResolveID, other: ResolveID) -> Bool { one.number < other.number }
}

/// Where a peer says it takes invitations; nowhere, when it did not say so in time.
package struct Resolution: Hashable, Sendable {
    /// The most promising first; link-local addresses with the interface on which they were learnt.
    package var candidates: [Candidate]
    package init(candidates: [Candidate] = []) { self.candidates = candidates }
}

/// Why the engine does not take an order. Never caused by the network.
package enum MulticastDNSFault: Error, Hashable, Sendable {
    /// There are as many advertisements and browses as may be.
    case tooMany
    /// This peer is advertised already for this service type.
    case advertisedAlready
    /// The engine says goodbye and takes no more orders.
    case shutDown
}
