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

    /// The maximum number of requests at a time, and of candidates of each. [mdns.limit]
    static let most = 256
    static let mostCandidates = 32
    /// How long further addresses may follow, once one is known.
    static let settling = Duration.milliseconds(250)
    /// How much longer the other family may take, as in RFC 8305 (section 3, resolution delay).
    static let otherFamily = Duration.milliseconds(50)

    /// Takes candidates from each row in turn, so that no row takes all the places.
    init(inTurn rows: [[Candidate]]) { candidates = Array(inTurn: rows, most: Resolution.mostCandidates) }
}

extension Array where Element: Equatable {
    /// Takes different elements from each row in turn, at most that many.
    init(inTurn rows: [[Element]], most: Int) {
        var rows = rows.map { $0[...] }
        var taken: [Element] = []
        while taken.count < most, rows.contains(where: { !$0.isEmpty }) {
            for row in rows.indices {
                guard let element = rows[row].popFirst(), !taken.contains(element) else { continue }
                taken.append(element)
            }
        }
        self = Array(taken.prefix(most))
    }
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
