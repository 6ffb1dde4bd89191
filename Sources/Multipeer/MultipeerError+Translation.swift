import MultipeerIntroduction
import MultipeerMesh
import MultipeerTransport

// The only place where the faults below become the error above.
extension MultipeerError {
    static func translating<Value>(
        _ body: () throws(SessionFault) -> Value
    ) throws(MultipeerError) -> Value {
        do throws(SessionFault) { return try body() } catch { throw MultipeerError(error) }
    }

    static func translating<Value: Sendable>(
        _ body: () async throws(SessionFault) -> Value
    ) async throws(MultipeerError) -> Value {
        do throws(SessionFault) { return try await body() } catch { throw MultipeerError(error) }
    }

    init(_ fault: SessionFault) {
        switch fault {
        case .network(let cause): self.init(.system, "\(cause)")
        case .security(let cause): self.init(.identity, "\(cause)")
        case .invalidData(let cause): self.init(.invalidConnectionData, cause.description)
        case .refused(let reason): self.init(.ended, "\(reason)", reason: reason)
        case .noAddress: self.init(.system, "this machine has no address at which anybody could reach it")
        }
    }

    init(_ fault: SendFault, to peer: PeerID) {
        switch fault {
        case .notLinked: self.init(.notConnected, "\(peer) is not connected")
        case .tooLong(let count, let limit):
            self.init(.tooLarge, "\(peer) accepts messages of \(limit) bytes, not of \(count)")
        case .ended(let reason): self.init(.ended, "the link to \(peer) ended: \(reason)", reason: reason)
        case .cancelled: self.init(.cancelled, "sending to \(peer) was cancelled")
        }
    }
}
