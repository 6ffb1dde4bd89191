import MultipeerCore
import MultipeerEngine
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity

/// The calls of the application that wait for an action of the engine. Lives on the loop.
struct PendingCalls {
    private var connects: [ConnectRequestID: Promise<DisconnectReason?>] = [:]
    /// Ends an invitation that is under way elsewhere for the session.
    private var invitations: [ConnectRequestID: @Sendable () -> Void] = [:]
    private var marks: [UInt64: (uid: UID, signal: Promise<Bool>)] = [:]
    private var lastMark: UInt64 = 0
    private var codes: [UInt64: Promise<Result<String, VerificationFault>>] = [:]
    private var lastCode: UInt64 = 0
    private var departures: [Promise<Void>] = []
}

// MARK: - Links

extension PendingCalls {
    /// A call that waits for its outcome.
    struct Connect {
        let request: ConnectRequestID
        let outcome: Promise<DisconnectReason?>
    }

    /// Keeps the outcome of the call from here on: in the same step as the request, because the outcome could come before the
    /// next step.
    mutating func expect(_ request: ConnectRequestID) -> Connect {
        let connect = Connect(request: request, outcome: Promise())
        connects[request] = connect.outcome
        return connect
    }

    mutating func ended(_ request: ConnectRequestID, _ reason: DisconnectReason?) {
        connects.removeValue(forKey: request)?.send(reason)
    }

    mutating func begin(_ invitation: ConnectRequestID, _ cancel: @escaping @Sendable () -> Void) {
        invitations[invitation] = cancel
    }

    mutating func end(_ invitation: ConnectRequestID) { invitations[invitation] = nil }

    /// Ends this invitation because the session is disconnecting.
    func abandon(_ invitation: ConnectRequestID) { invitations[invitation]?() }
}

// MARK: - What has arrived, and codes

extension PendingCalls {
    /// Returns a promise that is kept once the peer has received everything that was sent; the number is for the engine.
    mutating func awaitMark(of uid: UID) -> (number: UInt64, signal: Promise<Bool>) {
        lastMark += 1
        let signal = Promise<Bool>()
        marks[lastMark] = (uid, signal)
        return (lastMark, signal)
    }

    mutating func reached(_ mark: UInt64) { marks.removeValue(forKey: mark)?.signal.send(true) }

    /// The link to a peer has ended: what is not confirmed by now never will be.
    mutating func linkEnded(to uid: UID) {
        for (mark, waiting) in marks.sorted(by: { $0.key < $1.key }) where waiting.uid == uid {
            waiting.signal.send(false)
            marks[mark] = nil
        }
    }

    /// Returns a promise for a verification code; the number is for the engine.
    mutating func awaitCode() -> (number: UInt64, promise: Promise<Result<String, VerificationFault>>) {
        lastCode += 1
        let promise = Promise<Result<String, VerificationFault>>()
        codes[lastCode] = promise
        return (lastCode, promise)
    }

    mutating func endCode(_ number: UInt64) { codes[number] = nil }

    func verified(_ numbers: [UInt64], _ outcome: Result<String, VerificationFault>) {
        for number in numbers { codes[number]?.send(outcome) }
    }
}

// MARK: - Leaving

extension PendingCalls {
    /// Returns a promise that is kept when the session has finished disconnecting.
    mutating func awaitDeparture() -> Promise<Void> {
        let departure = Promise<Void>()
        departures.append(departure)
        return departure
    }

    mutating func hasLeft() {
        for departure in departures { departure.send(()) }
        departures = []
    }
}
