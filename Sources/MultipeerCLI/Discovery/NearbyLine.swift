import MultipeerCommandLine
package import MultipeerEssentials

/// One event of `multipeer invite`, for programs: tab-separated fields.
package struct NearbyLine: Equatable, Sendable {
    package enum Event: String, Sendable {
        case found, invited, connected, notConnected, lost
    }

    package let event: Event
    /// The number that the user types for the peer; nil with `--wait`.
    package let number: Int?
    package let peer: PeerID
    package let info: [String: String]

    package init(_ event: Event, _ number: Int?, _ peer: PeerID, info: [String: String] = [:]) {
        (self.event, self.number, self.peer, self.info) = (event, number, peer, info)
    }

    /// The fields, with tabs and line ends in them escaped.
    package var text: String {
        let numbers = number.map { ["\($0)"] } ?? []
        return ([event.rawValue] + numbers + [peer.id, peer.displayName.printable, infoText]).joined(
            separator: "\t")
    }

    /// The same for people.
    package var sentence: String {
        let remark = infoText.isEmpty ? "" : " (\(infoText))"
        let kind = event == .found ? ", with a \(peer.uid.idKind) id" : ""
        return (number.map { "\($0)  " } ?? "") + "\(peer.introduction) \(verb)\(kind)\(remark)"
    }

    private var infoText: String {
        info.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)".printable }.joined(separator: " ")
    }

    private var verb: String {
        switch event {
        case .found: "is here"
        case .invited: "is invited"
        case .connected: "is connected"
        case .notConnected: "is not connected"
        case .lost: "is gone"
        }
    }
}
