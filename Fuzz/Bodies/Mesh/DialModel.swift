import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh

/// A model of which peers may be, and which must be, connecting: the bounds of chapter 11, whatever was drawn for the
/// pauses.
struct DialModel {
    private struct Attempt {
        let blob: [UInt8]
        let since: Moment
    }

    private var active: [Endpoint: Attempt] = [:]
    private var begun: Set<Endpoint> = []
    private var failed: [Endpoint: Moment] = [:]
    private var hopeless: [Endpoint: [UInt8]] = [:]

    /// Returns a uid that is connecting, for the script to end the attempt.
    func dialled(_ choice: Int) -> UID? {
        let endpoints = active.keys.sorted(by: <)
        return endpoints.isEmpty ? nil : endpoints[choice % endpoints.count].uid
    }

    /// The attempt for another instance of the peer is over, too: its link took the place.
    mutating func linked(to endpoint: Endpoint, at now: Moment) {
        active[endpoint] = nil
        attemptEnded(endpoint.uid, isHopeless: false, at: now)
        failed[endpoint] = nil
        hopeless[endpoint] = nil
        begun.remove(endpoint)
    }

    mutating func linkEnded(_ line: MembershipModel.Line, hasDeparted: Bool, at now: Moment) {
        guard !hasDeparted else { return }
        forget(line.endpoint)
        if now - line.since < .seconds(30) { failed[line.endpoint] = now }
    }

    mutating func attemptEnded(_ uid: UID, isHopeless: Bool, at now: Moment) {
        for (endpoint, attempt) in active where endpoint.uid == uid {
            active[endpoint] = nil
            failed[endpoint] = now
            if isHopeless { hopeless[endpoint] = attempt.blob }
        }
    }

    private mutating func forget(_ endpoint: Endpoint) {
        active[endpoint] = nil
        begun.remove(endpoint)
        hopeless[endpoint] = nil
    }

    private func missing(_ model: MembershipModel) -> Set<Endpoint> {
        model.component.filter { endpoint in
            endpoint.uid != model.local.uid
                && model.lines.values.allSatisfy { line in
                    guard line.endpoint.uid == endpoint.uid else { return true }
                    guard let known = model.held[line.endpoint], let other = model.held[endpoint] else {
                        return false
                    }
                    return other.arrival > known.arrival
                }
        }
    }
}

// MARK: checks

extension DialModel {
    mutating func judge(_ actions: [Membership.Action], _ model: MembershipModel) throws(BrokenPromise) {
        let missing = missing(model)
        for endpoint in hopeless.keys where hopeless[endpoint] != model.held[endpoint]?.entry.blob {
            hopeless[endpoint] = nil
            failed[endpoint] = nil
        }
        for action in actions {
            switch action {
            case .connect(let data, let isFirst): try connect(data, isFirst, missing, model)
            case .withdraw(let uid): try withdraw(uid, missing, model)
            case .hide(let uid): try promise(false, "\(uid) is hidden although no link was lost")
            case .tell, .dismiss, .leave: break
            }
        }
        for endpoint in active.keys {
            try promise(missing.contains(endpoint), "\(endpoint) is dialled although it is not missing")
        }
        for endpoint in hopeless.keys where !missing.contains(endpoint) {
            hopeless[endpoint] = nil
            failed[endpoint] = nil
        }
        for endpoint in begun.subtracting(missing) { forget(endpoint) }
        try nobodyWaitsInVain(missing, model)
    }

    private mutating func connect(
        _ data: ConnectionData, _ isFirst: Bool, _ missing: Set<Endpoint>, _ model: MembershipModel
    ) throws(BrokenPromise) {
        let endpoint = data.endpoint
        try promise(missing.contains(endpoint), "\(endpoint) is dialled without need")
        try promise(
            data.bytes == model.held[endpoint]?.entry.blob, "dialled with other data than its entry's")
        try promise(isFirst != begun.contains(endpoint), "the first attempt is not reported as the first")
        if let known = active[endpoint] {
            try promise(known.blob != data.bytes, "dialled again with the same data")
            try promise(model.now >= known.since + .seconds(5), "dialled again too early")
        } else if let former = active.keys.first(where: { $0.uid == endpoint.uid }) {
            let (old, new) = (model.held[former]?.arrival ?? 0, model.held[endpoint]?.arrival ?? 0)
            try promise(isFirst && new > old, "an instance is given up for one that is not new")
            active[former] = nil
            failed[former] = model.now
        }
        if let failed = failed[endpoint] {
            try promise(model.now >= failed + .milliseconds(500), "no pause after a failure")
        }
        try promise(hopeless[endpoint] == nil, "a hopeless attempt is repeated")
        active[endpoint] = Attempt(blob: data.bytes, since: model.now)
        begun.insert(endpoint)
        try promise(active.count <= 2 * model.cap, "too many are dialled at once")
    }

    private mutating func withdraw(
        _ uid: UID, _ missing: Set<Endpoint>, _ model: MembershipModel
    ) throws(BrokenPromise) {
        let former = active.keys.first { $0.uid == uid && !missing.contains($0) }
        try promise(former != nil, "\(uid) is withdrawn although it is missing or was not dialled")
        if let former {
            forget(former)
            failed[former] = model.now
        }
    }

    private func nobodyWaitsInVain(
        _ missing: Set<Endpoint>, _ model: MembershipModel
    ) throws(BrokenPromise) {
        guard active.count < 2 * model.cap else { return }
        for endpoint in missing where active[endpoint] == nil && hopeless[endpoint] == nil {
            let isLinked = model.lines.values.contains { $0.endpoint.uid == endpoint.uid }
            let hasLinkCapacity = isLinked || model.lines.count < model.cap - 1
            guard hasLinkCapacity || model.lines.values.allSatisfy(\.isMesh) else { continue }
            guard !active.keys.contains(where: { $0.uid == endpoint.uid }) else { continue }
            let pause = failed[endpoint].map { $0 + .seconds(6) }
            try promise(pause.map { model.now < $0 } ?? false, "\(endpoint) is not dialled")
        }
    }
}
