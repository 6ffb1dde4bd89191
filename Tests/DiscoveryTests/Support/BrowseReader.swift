import MultipeerCore
import MultipeerDiscovery

/// The one reader of a browse, who reads at once.
struct BrowseReader {
    private var results = BrowseResults()
    private let reader: BrowseResults.ReaderID

    init() { reader = results.makeReader() }

    /// What it is told when the backend has heard this.
    mutating func note(_ uid: UID, _ peer: DiscoveredPeer?) -> [BrowserEvent] {
        _ = results.note(uid, peer)
        var events: [BrowserEvent] = []
        while case .event(let event)? = results.next(for: reader) { events.append(event) }
        return events
    }
}
