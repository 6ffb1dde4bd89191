import MultipeerConnectivity

// Errors: patterns, codes, NSError, and errors of the application.

// idiom: several catch clauses for the codes

func deliver(_ data: Data, in session: MCSession) -> String {
    do {
        try session.send(data, toPeers: session.connectedPeers, with: .reliable)
        return "sent"
    } catch MCError.notConnected {
        return "that peer has left"
    } catch MCError.invalidParameter {
        return "nobody to send to"
    } catch let error as MCError where error.code == .unavailable {
        return "try again later"
    } catch {
        return error.localizedDescription
    }
}

// idiom: a switch over the code of an error

func advice(for error: any Error) -> String {
    guard let error = error as? MCError else { return "\(error)" }
    switch error.code {
    case .notConnected, .timedOut: return "Move closer together."
    case .cancelled: return "The transfer was cancelled."
    case .unavailable: return "The peer is busy."
    case .invalidParameter, .unsupported, .unknown: return "Please report this."
    @unknown default: return "Unknown error."
    }
}

// idiom: domain and code of an error, through NSError

func isTimeout(_ error: any Error) -> Bool {
    let error = error as NSError
    return error.domain == MCErrorDomain && error.code == MCError.Code.timedOut.rawValue
}

// idiom: a pattern for one code of an optional error

func wasCancelled(_ error: (any Error)?) -> Bool {
    if case MCError.cancelled? = error { return true }
    return (error as? MCError)?.code == .cancelled
}

// idiom: an MCError that the application throws

func checkRoom(_ session: MCSession) throws {
    guard session.connectedPeers.count < kMCSessionMaximumNumberOfPeers - 1 else {
        throw MCError(.unavailable, userInfo: [NSLocalizedDescriptionKey: "The room is full."])
    }
}

// idiom: a function with the thrown type MCError

func firstPeer(of session: MCSession) throws(MCError) -> MCPeerID {
    guard let peer = session.connectedPeers.first else { throw MCError(.notConnected) }
    return peer
}

func nameOfFirstPeer(of session: MCSession) -> String {
    do throws(MCError) { return try firstPeer(of: session).displayName } catch { return "\(error.code)" }
}

// idiom: the application's own error, which wraps the framework's

enum ChatError: Error {
    case nobodyThere
    case transport(MCError)
    case other(any Error)

    init(_ error: any Error) {
        switch error {
        case MCError.notConnected: self = .nobodyThere
        case let error as MCError: self = .transport(error)
        default: self = .other(error)
        }
    }
}

// idiom: a localized description for each code

extension ChatError: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .nobodyThere: "Nobody is connected."
        case .transport(let error): "Error \(error.errorCode): \(error.localizedDescription)"
        case .other(let error): error.localizedDescription
        }
    }
}

// idiom: a Result instead of a thrown error

func result(of sending: Data, in session: MCSession) -> Result<Int, ChatError> {
    Result { try session.send(sending, toPeers: session.connectedPeers, with: .reliable) }
        .map { session.connectedPeers.count }
        .mapError(ChatError.init)
}

// idiom: errors ignored with try?

func sendPosition(_ data: Data, in session: MCSession) {
    guard !session.connectedPeers.isEmpty else { return }
    try? session.send(data, toPeers: session.connectedPeers, with: .unreliable)
}

// idiom: a message is sent again while the send queue is full

func sendWithRetries(_ data: Data, to peer: MCPeerID, in session: MCSession, attempts: Int = 5) throws {
    for attempt in 1... {
        do {
            return try session.send(data, toPeers: [peer], with: .reliable)
        } catch MCError.unavailable where attempt < attempts {
            Thread.sleep(forTimeInterval: 0.1 * Double(attempt))
        }
    }
}

// idiom: error codes as keys of a dictionary

func histogram(of errors: [MCError]) -> [MCError.Code: Int] {
    errors.reduce(into: [:]) { counts, error in counts[error.code, default: 0] += 1 }
}

func isWorthLogging(_ error: MCError) -> Bool { error != MCError(.cancelled) && error.code != .unknown }
