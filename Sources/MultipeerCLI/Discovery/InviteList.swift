import MultipeerEssentials

/// The peers of `multipeer invite`, in the order in which they appeared, each with the number that the user types for it.
struct InviteList {
    struct Row {
        let number: Int
        let peer: PeerID
        var info: [String: String]
        /// The last event that was shown: found, invited, connected or notConnected.
        var event: NearbyLine.Event
        /// Whether it is visible; one that is not is shown as long as it is connected.
        var isHere: Bool

        /// Whether it takes one of the places, or may soon.
        var takesPlace: Bool { event == .invited || event == .connected }
    }

    private(set) var rows: [Row] = []
    private var lastNumber = 0

    /// How many peers are connected, or may be soon.
    var takenPlaces: Int { rows.count(where: \.takesPlace) }
    var connected: Int { rows.count { $0.event == .connected } }

    /// Adds a visible peer, or changes its info. Returns the lines to show.
    mutating func add(_ peer: PeerID, _ info: [String: String]) -> [NearbyLine] {
        if let place = place(of: peer) {
            rows[place].info = info
            rows[place].isHere = true
            return []
        }
        return [append(peer, info, isHere: true)]
    }

    /// A peer is no longer visible: it stays while it is connected, or may be soon.
    mutating func lose(_ peer: PeerID) -> [NearbyLine] {
        guard let place = place(of: peer) else { return [] }
        rows[place].isHere = false
        return removeIfGone(place)
    }

    /// Returns nil when the peer cannot be invited now.
    mutating func invite(_ peer: PeerID) -> [NearbyLine]? {
        guard let place = place(of: peer), rows[place].isHere, !rows[place].takesPlace else { return nil }
        return change(place, .invited)
    }

    /// Applies what the session says about a peer, which may have connected without being found here.
    mutating func change(_ peer: PeerID, _ event: NearbyLine.Event) -> [NearbyLine] {
        if let place = place(of: peer) { return change(place, event) }
        guard event == .connected else { return [] }
        let found = append(peer, [:], isHere: false)
        return [found] + change(rows.count - 1, .connected)
    }

    private func place(of peer: PeerID) -> Int? { rows.firstIndex { $0.peer == peer } }

    private mutating func append(_ peer: PeerID, _ info: [String: String], isHere: Bool) -> NearbyLine {
        lastNumber += 1
        rows.append(Row(number: lastNumber, peer: peer, info: info, event: .found, isHere: isHere))
        return NearbyLine(.found, lastNumber, peer, info: info)
    }

    private mutating func change(_ place: Int, _ event: NearbyLine.Event) -> [NearbyLine] {
        guard rows[place].event != event else { return [] }
        rows[place].event = event
        return [NearbyLine(event, rows[place].number, rows[place].peer)] + removeIfGone(place)
    }

    private mutating func removeIfGone(_ place: Int) -> [NearbyLine] {
        let row = rows[place]
        guard !row.isHere, !row.takesPlace else { return [] }
        rows.remove(at: place)
        return [NearbyLine(.lost, row.number, row.peer)]
    }
}
