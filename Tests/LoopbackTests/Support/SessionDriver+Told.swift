import MultipeerMesh
import MultipeerTransport

extension SessionDriver {
    /// Returns the states and the markers, in order, until an attempt is reported as failed. Events end with each
    /// `disconnect`, and those of the next instance are taken, too.
    nonisolated func toldUntilFailure() async -> [String] {
        var told: [String] = []
        while !Task.isCancelled {
            var events = eventQueue.makeAsyncIterator()
            while let run = await events.nextRun() {
                var markers = run.markers[...]
                for (index, event) in run.elements.enumerated() {
                    while let next = markers.first, next.index <= index {
                        told.append("\(markers.removeFirst().marker.word)")
                    }
                    if case .peer(_, let state) = event { told.append(state.word) }
                }
                told += markers.map(\.marker.word)
                if told.contains("failed") { return told }
            }
        }
        return told
    }
}

extension EventMarker {
    fileprivate var word: String {
        switch self {
        case .attemptFailed: "failed"
        case .left: "left"
        case .reached: "reached"
        }
    }
}

extension PeerState {
    fileprivate var word: String {
        switch self {
        case .notConnected: "not connected"
        case .connecting: "connecting"
        case .connected: "connected"
        }
    }
}
