import MultipeerConnectivity

/// The switches of programs: with `@unknown default`, which must not make the compiler complain.
package func word(_ state: MCSessionState) -> String {
    switch state {
    case .notConnected: return "not connected"
    case .connecting: return "connecting"
    case .connected: return "connected"
    @unknown default: return "unknown"
    }
}

package func word(_ mode: MCSessionSendDataMode) -> String {
    switch mode {
    case .reliable: return "reliable"
    case .unreliable: return "unreliable"
    @unknown default: return "unknown"
    }
}

package func word(_ preference: MCEncryptionPreference) -> String {
    switch preference {
    case .optional: return "optional"
    case .required: return "required"
    case .none: return "none"
    @unknown default: return "unknown"
    }
}

package func word(_ code: MCError.Code) -> String {
    switch code {
    case .unknown: return "unknown"
    case .notConnected: return "not connected"
    case .invalidParameter: return "invalid parameter"
    case .unsupported: return "unsupported"
    case .timedOut: return "timed out"
    case .cancelled: return "cancelled"
    case .unavailable: return "unavailable"
    @unknown default: return "other"
    }
}

/// What a program does with an error: patterns, the code, the bridge to NSError.
package func caught(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "nothing"
    } catch MCError.notConnected {
        return "not connected"
    } catch MCError.invalidParameter {
        return "invalid parameter"
    } catch let error as MCError where error.code == .unavailable {
        return "unavailable"
    } catch let error as MCError {
        return "code \(error.errorCode)"
    } catch {
        let error = error as NSError
        return "\(error.domain) \(error.code)"
    }
}

/// Domain and code, as a program that does not know the type reads them.
package func bridged(_ error: Error) -> (domain: String, code: Int) {
    let error = error as NSError
    return (error.domain, error.code)
}

/// The signatures as values of the types that programs give them.
package func references() -> [Any] {
    let data: (MCSession) -> (MCPeerID, @escaping @Sendable (Data?, Error?) -> Void) -> Void =
        MCSession.nearbyConnectionData(forPeer:withCompletionHandler:)
    let send: (MCSession) -> (Data, [MCPeerID], MCSessionSendDataMode) throws -> Void = MCSession.send(
        _:toPeers:with:)
    let stream: (MCSession) -> (String, MCPeerID) throws -> OutputStream = MCSession.startStream(
        withName:toPeer:)
    let resource: (MCSession) -> (URL, String, MCPeerID, ((Error?) -> Void)?) -> Progress? =
        MCSession.sendResource(at:withName:toPeer:withCompletionHandler:)
    let peer: (String) -> MCPeerID = MCPeerID.init(displayName:)
    let coded: (NSCoder) -> MCPeerID? = MCPeerID.init(coder:)
    let limits: (Int, Int) = (kMCSessionMinimumNumberOfPeers, kMCSessionMaximumNumberOfPeers)
    let domain: String = MCErrorDomain
    return [data, send, stream, resource, peer, coded, limits, domain]
}
