import Multipeer

/// Who is linked with whom in the demonstration's mesh, and since when.
struct MeshFormation: Encodable, Sendable {
    struct Link: Encodable, Sendable {
        let peers: [String]
        /// Whether the two had never been given each other's connection data.
        let isIntroduced: Bool
        /// When both ends said that it stands, since the data was handed over.
        let seconds: Double
    }

    let names: [String]
    private(set) var links: [Link] = []
    /// When the last link stood.
    private(set) var seconds: Double?
    private var views: [String: Set<String>] = [:]

    enum CodingKeys: CodingKey { case names, links, seconds }

    init(_ names: [String]) { self.names = names }

    var isFull: Bool { links.count == most }

    private var most: Int { names.count * (names.count - 1) / 2 }

    /// Answers the link when both ends have told of it.
    mutating func note(_ one: String, joined other: String, at time: Duration) -> Link? {
        views[one, default: []].insert(other)
        guard views[other]?.contains(one) == true, let low = place(one), let high = place(other),
            !links.contains(where: { Set($0.peers) == [one, other] })
        else { return nil }
        let pair = low < high ? [one, other] : [other, one]
        let link = Link(peers: pair, isIntroduced: abs(low - high) > 1, seconds: time.seconds)
        links.append(link)
        if isFull { seconds = link.seconds }
        return link
    }

    mutating func note(_ one: String, lost other: String) {
        views[one]?.remove(other)
        links.removeAll { Set($0.peers) == [one, other] }
    }

    private func place(_ name: String) -> Int? { names.firstIndex(of: name) }

    func line(for link: Link) -> String {
        let time = Amount.duration(.seconds(link.seconds)).padded(to: 8)
        let way = link.isIntroduced ? "introduced" : "by hand   "
        return "\(time)  \(link.peers.joined(separator: " - "))  \(way)  \(links.count) of \(most) links"
    }

    /// A line for each, with those it is linked with.
    var roster: String {
        names.map { name in
            let others = names.filter { views[name]?.contains($0) == true }
            return "  \(name): \(others.joined(separator: ", "))"
        }.joined(separator: "\n")
    }
}
