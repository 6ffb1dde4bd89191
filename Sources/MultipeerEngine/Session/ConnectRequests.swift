import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh

/// The calls that wait for a link, and their outcomes.
struct ConnectRequests {
    private var requests: [ConnectRequestID: ConnectRequest] = [:]
    private var last: UInt64 = 0

    mutating func add(_ request: ConnectRequest) -> ConnectRequestID {
        last += 1
        let id = ConnectRequestID(rawValue: last)
        requests[id] = request
        return id
    }

    mutating func remove(_ id: ConnectRequestID) -> ConnectRequest? { requests.removeValue(forKey: id) }

    private var inOrder: [(key: ConnectRequestID, value: ConnectRequest)] {
        requests.sorted { $0.key < $1.key }
    }

    /// The time at which the first call stops waiting.
    var deadline: Moment? {
        var earliest: Moment?
        for request in requests.values where request.isInvitation {
            earliest = .earlier(earliest, request.attempt?.deadline)
        }
        return earliest
    }
}

// MARK: - States

extension ConnectRequests {
    /// Notes that a state of this peer was reported to the application.
    mutating func noteState(of uid: UID) {
        for (id, request) in requests where request.uid == uid { requests[id]?.isTold = true }
    }

    /// Forgets reported states after the session has left. Calls that continue began after that, and the states
    /// reported of their peers are from before.
    mutating func forgetStates() {
        for (id, request) in requests where !request.isAbandoned { requests[id]?.isTold = false }
    }
}

// MARK: - Attempts

extension ConnectRequests {
    /// Starts connecting for an invitation on which the two peers have agreed, until `end`.
    mutating func agreed(
        _ id: ConnectRequestID, _ data: ConnectionData, until end: Moment, isLeaving: Bool, at now: Moment,
        _ mesh: inout Mesh, _ outputs: inout [SessionOutput]
    ) {
        guard let request = requests[id], case .agreeing = request.stage else { return }
        if request.isAbandoned || isLeaving { return finish(id, .left, &outputs) }
        connect(id, data, until: end, at: now, &mesh, &outputs)
    }

    /// Cancels a call.
    mutating func cancel(
        _ id: ConnectRequestID, at now: Moment, _ mesh: inout Mesh, _ outputs: inout [SessionOutput]
    ) {
        guard let request = requests[id] else { return }
        if request.isInvitation {
            stopWaiting(id, DisconnectReason(code: .cancelled), at: now, &mesh, &outputs)
        } else {
            mesh.cancel(request.uid, at: now)
        }
    }

    /// Handles the end of an attempt to connect to a peer: with a link, or for this reason without one.
    mutating func attemptEnded(
        of uid: UID, _ reason: DisconnectReason?, isLeaving: Bool, at now: Moment, _ mesh: inout Mesh,
        _ outputs: inout [SessionOutput]
    ) {
        if requests.isEmpty { return }
        for (id, request) in inOrder where request.uid == uid {
            guard let attempt = request.attempt else { continue }
            // The peer cancelled an earlier invitation, which the attempt was for, and not this one.
            let isAnothers = request.isInvitation && !attempt.isOwn && reason?.closeCode == .cancelled
            if isAnothers, !isLeaving {
                connect(id, attempt.data, until: attempt.end, at: now, &mesh, &outputs)
            } else {
                finish(id, reason, &outputs)
            }
        }
    }

    /// Ends calls that timed out.
    mutating func expire(at now: Moment, _ mesh: inout Mesh, _ outputs: inout [SessionOutput]) {
        guard let deadline, deadline <= now else { return }
        for (id, request) in inOrder {
            guard let attempt = request.attempt, attempt.deadline <= now else { continue }
            stopWaiting(id, DisconnectReason(code: .timedOut), at: now, &mesh, &outputs)
        }
    }

    /// Abandons all invitations, because the session leaves.
    mutating func abandonInvitations(_ outputs: inout [SessionOutput]) {
        for (id, request) in inOrder where request.isInvitation {
            guard !request.isAbandoned else { continue }
            if request.attempt != nil { finish(id, .left, &outputs) }
            requests[id]?.isAbandoned = true
            outputs.append(.abandoned(id))
        }
    }

    private mutating func connect(
        _ id: ConnectRequestID, _ data: ConnectionData, until end: Moment, at now: Moment,
        _ mesh: inout Mesh, _ outputs: inout [SessionOutput]
    ) {
        guard end > now else { return finish(id, DisconnectReason(code: .timedOut), &outputs) }
        do throws(LinkEstablishment.Refusal) {
            let isOwn = try mesh.connect(with: data, within: end - now, at: now)
            if mesh.isLinked(to: data.endpoint) { return finish(id, nil, &outputs) }
            let attempt = ConnectRequest.Attempt(data: data, end: end, isOwn: isOwn)
            requests[id]?.stage = .connecting(attempt)
        } catch .nothingIssued {
            finish(id, .left, &outputs)  // The data were issued by another instance.
        } catch {
            finish(id, DisconnectReason(error), &outputs)
        }
    }

    /// Stops one call from waiting; the last one ends the attempt.
    private mutating func stopWaiting(
        _ id: ConnectRequestID, _ reason: DisconnectReason, at now: Moment, _ mesh: inout Mesh,
        _ outputs: inout [SessionOutput]
    ) {
        guard let request = requests[id], let attempt = request.attempt else { return }
        if mesh.isLinked(to: attempt.data.endpoint) { return finish(id, nil, &outputs) }
        finish(id, reason, &outputs)
        let isWanted = requests.values.contains { $0.uid == request.uid && $0.isWaiting }
        if !isWanted { mesh.cancel(request.uid, at: now) }
    }

    mutating func finish(
        _ id: ConnectRequestID, _ reason: DisconnectReason?, _ outputs: inout [SessionOutput]
    ) {
        guard let request = requests[id] else { return }
        if request.isInvitation { requests[id]?.stage = .over } else { requests[id] = nil }
        outputs.append(.connectEnded(id, reason))
    }
}

extension DisconnectReason {
    static var left: DisconnectReason { DisconnectReason(code: .left) }
}
