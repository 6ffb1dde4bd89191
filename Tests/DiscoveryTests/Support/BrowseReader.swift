import MultipeerCore
import MultipeerDiscovery

/// The one reader of a browse, which reads at once.
struct BrowseReader {
    private var results = BrowseResults()
    private let reader: BrowseResults.ReaderID

    init() { reader = results.makeReader() }

    /// Returns its events when the backend reports this.
    mutating func note(_ uid: UID, _ peer: PresentPeer?) -> [DiscoveredPeer.Event] {
        _ = results.note(uid, peer)
        var events: [DiscoveredPeer.Event] = []
        while case .event(let event)? = results.next(for: reader) { events.append(event) }
        return events
    }
}
