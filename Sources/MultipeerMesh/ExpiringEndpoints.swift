import MultipeerCore

/// Endpoints that are remembered for a while. At most 64: beyond that the one that would expire first is
/// removed.
struct ExpiringEndpoints: Sendable {
    static let capacity = 64

    private var moments: [Endpoint: Moment] = [:]

    mutating func remember(_ endpoint: Endpoint, until moment: Moment, at now: Moment) {
        moments[endpoint] = moment
        guard moments.count > ExpiringEndpoints.capacity else { return }
        moments = moments.filter { now < $0.value }
        guard moments.count > ExpiringEndpoints.capacity else { return }
        let first = moments.min {
            ($0.value, $0.key.uid, $0.key.instance) < ($1.value, $1.key.uid, $1.key.instance)
        }
        if let first { moments[first.key] = nil }
    }

    mutating func forget(_ endpoint: Endpoint) { moments[endpoint] = nil }

    func holds(_ endpoint: Endpoint, at now: Moment) -> Bool {
        moments[endpoint].map { now < $0 } ?? false
    }
}
