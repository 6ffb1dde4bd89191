package import MultipeerCore
import MultipeerFraming
package import MultipeerIntroduction
import MultipeerMesh

/// One call of the application that waits for a link. No number comes twice from one engine.
package struct ConnectRequestID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// A call of the application that waits for a link, until it has its outcome.
///
/// ```
/// connection data:               ┌──▶ connecting ──linked, refused, the call's time is over──▶ (outcome)
/// invitation: agreeing ──agreed──┘        └──the session leaves──▶ (outcome: left)
///                └──ended elsewhere, the session leaves──▶ (ended by its owner)
/// ```
struct ConnectRequest {
    let uid: UID
    /// Several invitations may wait for one peer: the last one that stops waiting ends the attempt. Cancelling a call with
    /// connection data ends the attempt for every call.
    let isInvitation: Bool
    var stage: Stage
    /// The application was told a state of the peer meanwhile.
    var isTold = false
    /// The session left before the invitation was agreed on.
    var isAbandoned = false

    enum Stage {
        /// An invitation on which the two have not agreed.
        case agreeing
        case connecting(Attempt)
        /// The outcome is known.
        case over
    }

    struct Attempt {
        let data: ConnectionData
        let end: Moment
        /// This request began the attempt; otherwise it joined one.
        let isOwn: Bool

        /// When the call stops waiting, whatever the attempt does: a little later than it should end by itself, because
        /// its own reason says more.
        var deadline: Moment { end + .milliseconds(250) }
    }

    var attempt: Attempt? { if case .connecting(let attempt) = stage { attempt } else { nil } }
    /// It keeps an attempt going.
    var isWaiting: Bool { if case .over = stage { false } else { !isAbandoned } }
}

// MARK: what the application asks for

extension SessionEngine {
    /// Begins an invitation of or to `uid`. From here to `endInvitation` it belongs to the session: when the session
    /// leaves, `abandoned` says that it must not go on.
    package mutating func beginInvitation(of uid: UID) -> ConnectRequestID {
        add(ConnectRequest(uid: uid, isInvitation: true, stage: .agreeing))
    }

    /// Whether a link to `uid` would find a seat here, and the peer a place in the mesh.
    package func hasRoom(for uid: UID) -> Bool { mesh.hasRoom(for: uid) }

    /// Both sides of an invitation agreed, and this is the peer's data: connects until `end`. `connectEnded` has the
    /// outcome. What this session issued for the peer must still be its own.
    package mutating func connect(
        _ id: ConnectRequestID, with data: ConnectionData, until end: Moment, at now: Moment
    ) {
        self.now = now
        // What happened before is the outcome of others.
        settle()
        guard let request = requests[id], case .agreeing = request.stage else { return }
        if request.isAbandoned || leaving != .staying { return finish(id, .left) }
        seek(id, data, until: end)
    }

    /// Connects with data that was handed over by other means. Returns nil when the peer is linked already; otherwise
    /// `connectEnded` has the outcome, which is `left` at once while the session leaves.
    package mutating func connect(
        with data: ConnectionData, within timeout: Duration, at now: Moment
    ) throws(Introductions.Refusal) -> ConnectRequestID? {
        self.now = now
        // What an attempt before came to is the outcome of its own callers.
        settle()
        guard leaving == .staying else {
            let id = add(ConnectRequest(uid: data.peer.uid, isInvitation: false, stage: .over))
            finish(id, .left)
            return id
        }
        let isOwn = try mesh.connect(with: data, within: timeout, at: now)
        if mesh.isLinked(to: data.endpoint) { return nil }
        let attempt = ConnectRequest.Attempt(data: data, end: .distantFuture, isOwn: isOwn)
        return add(
            ConnectRequest(uid: data.peer.uid, isInvitation: false, stage: .connecting(attempt)))
    }

    /// The call waits no longer.
    package mutating func cancel(_ id: ConnectRequestID, at now: Moment) {
        self.now = now
        guard let request = requests[id] else { return }
        if request.isInvitation {
            stopWaiting(id, EndReason(code: .cancelled))
        } else {
            mesh.cancel(request.uid, at: now)
        }
    }

    /// The invitation is over, with a link or without. `isAbandoned`: because the session left. `isTold`: the states that
    /// the application was told say so, because there was one since the invitation began or the peer is not unconnected.
    package mutating func endInvitation(_ id: ConnectRequestID) -> (isAbandoned: Bool, isTold: Bool) {
        guard let request = requests.removeValue(forKey: id) else { return (true, true) }
        return (request.isAbandoned, request.isTold || mesh.state(of: request.uid) != .notConnected)
    }

    private mutating func add(_ request: ConnectRequest) -> ConnectRequestID {
        lastRequest += 1
        let id = ConnectRequestID(rawValue: lastRequest)
        requests[id] = request
        return id
    }
}

// MARK: - Outcomes

extension SessionEngine {
    private var requestsInOrder: [(key: ConnectRequestID, value: ConnectRequest)] {
        requests.sorted { $0.key < $1.key }
    }

    /// When the first call stops waiting.
    var requestDeadline: Moment? {
        requests.values.lazy.filter(\.isInvitation).compactMap { $0.attempt?.deadline }.min()
    }

    /// Calls whose time is over wait no longer.
    mutating func expireConnectRequests() {
        guard let requestDeadline, requestDeadline <= now else { return }
        for (id, request) in requestsInOrder {
            guard let attempt = request.attempt, attempt.deadline <= now else { continue }
            stopWaiting(id, EndReason(code: .timedOut))
        }
    }

    /// The attempt to connect to a peer is over: with a link, or for this reason without one.
    mutating func attemptEnded(of uid: UID, _ reason: EndReason?) {
        if requests.isEmpty { return }
        for (id, request) in requestsInOrder where request.uid == uid {
            guard let attempt = request.attempt else { continue }
            // The peer gave up an earlier invitation, which the attempt was for, and not this one.
            let isAnothers = request.isInvitation && !attempt.isOwn && reason?.closeCode == .cancelled
            if isAnothers, leaving == .staying {
                seek(id, attempt.data, until: attempt.end)
            } else {
                finish(id, reason)
            }
        }
    }

    /// The session leaves: no invitation goes on.
    mutating func abandonInvitations() {
        for (id, request) in requestsInOrder where request.isInvitation {
            guard !request.isAbandoned else { continue }
            if request.attempt != nil { finish(id, .left) }
            requests[id]?.isAbandoned = true
            outputs.append(.abandoned(id))
        }
    }

    /// The session has left. What goes on began after that, and what was told of its peer is of the time before.
    mutating func forgetStates() {
        for (id, request) in requests where !request.isAbandoned { requests[id]?.isTold = false }
    }

    mutating func noteState(of uid: UID) {
        for (id, request) in requests where request.uid == uid { requests[id]?.isTold = true }
    }

    private mutating func seek(_ id: ConnectRequestID, _ data: ConnectionData, until end: Moment) {
        guard end > now else { return finish(id, EndReason(code: .timedOut)) }
        do throws(Introductions.Refusal) {
            let isOwn = try mesh.connect(with: data, within: end - now, at: now)
            if mesh.isLinked(to: data.endpoint) { return finish(id, nil) }
            let attempt = ConnectRequest.Attempt(data: data, end: end, isOwn: isOwn)
            requests[id]?.stage = .connecting(attempt)
        } catch .nothingIssued {
            finish(id, .left)  // What was issued was another instance's.
        } catch {
            finish(id, EndReason(error))
        }
    }

    /// One call waits no longer; the last one ends the attempt.
    private mutating func stopWaiting(_ id: ConnectRequestID, _ reason: EndReason) {
        guard let request = requests[id], let attempt = request.attempt else { return }
        if mesh.isLinked(to: attempt.data.endpoint) { return finish(id, nil) }
        finish(id, reason)
        let isWanted = requests.values.contains { $0.uid == request.uid && $0.isWaiting }
        if !isWanted { mesh.cancel(request.uid, at: now) }
    }

    private mutating func finish(_ id: ConnectRequestID, _ reason: EndReason?) {
        guard let request = requests[id] else { return }
        if request.isInvitation { requests[id]?.stage = .over } else { requests[id] = nil }
        outputs.append(.connectEnded(id, reason))
    }
}

extension EndReason {
    fileprivate static var left: EndReason { EndReason(code: .left) }
}
