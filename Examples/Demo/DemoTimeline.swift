import Multipeer
import MultipeerCommandLine

/// How the processes of a demonstration linked: when peers were found and invited, and when the links were established. All
/// times are seconds since the processes were ordered to meet.
struct DemoTimeline: Encodable, Sendable {
    struct Link: Encodable, Sendable {
        let peers: [String]
        /// When the first of the two found the other.
        let found: Double?
        /// When the first invitation of one to the other arrived; nil when other peers introduced them before.
        let invited: Double?
        /// When both ends had reported the link.
        let linked: Double
        let protection: DemoLink
    }

    let names: [String]
    private(set) var links: [Link] = []
    /// When all peers had found each other.
    private(set) var found: Double?
    /// When the last link was established.
    private(set) var seconds: Double?
    private var sightings: Set<[String]> = []
    private var firstFound: [Set<String>: Duration] = [:]
    private var firstInvited: [Set<String>: Duration] = [:]
    private var ends: [[String]: DemoLink] = [:]

    enum CodingKeys: CodingKey { case names, links, found, seconds }

    init(_ names: [String]) { self.names = names }

    var isFull: Bool { links.count == most }

    private var most: Int { names.count * (names.count - 1) / 2 }

    /// Returns whether all peers have found each other with this one.
    mutating func note(_ one: String, found other: String, at time: Duration) -> Bool {
        if firstFound[[one, other]] == nil { firstFound[[one, other]] = time }
        sightings.insert([one, other])
        guard found == nil, sightings.count == names.count * (names.count - 1) else { return false }
        found = time.seconds
        return true
    }

    mutating func note(_ one: String, invitedBy other: String, at time: Duration) {
        if firstInvited[[one, other]] == nil { firstInvited[[one, other]] = time }
    }

    /// Returns the link when both ends have reported it; throws when they do not agree about it.
    mutating func note(_ one: String, _ end: DemoLink, at time: Duration) throws(CommandError) -> Link? {
        let other = end.peer
        ends[[one, other]] = end
        guard let reverse = ends[[other, one]], let low = names.firstIndex(of: one),
            let high = names.firstIndex(of: other), !links.contains(where: { Set($0.peers) == [one, other] })
        else { return nil }
        guard reverse.isEncrypted == end.isEncrypted, reverse.suite == end.suite else {
            throw CommandError("\(one) and \(other) disagree on their link's protection", exit: .linkFailed)
        }
        let link = Link(
            peers: low < high ? [one, other] : [other, one], found: firstFound[[one, other]]?.seconds,
            invited: firstInvited[[one, other]]?.seconds, linked: time.seconds,
            protection: low < high ? end : reverse)
        links.append(link)
        if isFull { seconds = link.linked }
        return link
    }

    mutating func note(_ one: String, lost other: String) {
        ends[[one, other]] = nil
        links.removeAll { Set($0.peers) == [one, other] }
    }

    func line(for link: Link) -> String {
        let found = link.found.map { "found \(DemoTimeline.text($0))" } ?? "introduced"
        let invited = link.invited.map { "invited \(DemoTimeline.text($0))" } ?? "introduced"
        let protection = link.protection.isEncrypted ? "encrypted" : "not encrypted"
        return
            "\(DemoTimeline.text(link.linked).padded(to: 8))  linked \(link.peers.joined(separator: " and ")), "
            + "\(protection) (\(found), \(invited)), \(links.count) of \(most) links"
    }

    static func text(_ seconds: Double) -> String { HumanReadable.duration(.seconds(seconds)) }

    /// A line for each peer, with the peers that it is linked with.
    var roster: String {
        names.map { name in
            let others = names.filter { other in links.contains { Set($0.peers) == [name, other] } }
            return "  \(name): \(others.joined(separator: ", "))"
        }.joined(separator: "\n")
    }
}
