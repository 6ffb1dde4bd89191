package import MultipeerEngine
package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh

// The only place where the faults of lower layers become a `MultipeerError`.
extension MultipeerError {
    package static func translating<Value>(
        _ body: () throws(SessionFault) -> Value
    ) throws(MultipeerError) -> Value {
        do throws(SessionFault) { return try body() } catch { throw MultipeerError(error) }
    }

    package static func translating<Value: Sendable>(
        _ body: () async throws(SessionFault) -> Value
    ) async throws(MultipeerError) -> Value {
        do throws(SessionFault) { return try await body() } catch { throw MultipeerError(error) }
    }

    package init(_ fault: SocketFault) {
        self.init(fault == .tooManyFiles ? .tooManyFiles : .system, "\(fault)")
    }

    package init(_ fault: SessionFault) {
        switch fault {
        case .network(let cause): self.init(cause)
        case .security(let cause): self.init(cause)
        case .invalidData(let cause): self.init(.invalidConnectionData, cause.description)
        case .refused(let reason):
            self.init(reason.code == .cancelled ? .cancelled : .ended, "\(reason)", reason: reason)
        case .invalidArgument(let message): self.init(.invalidArgument, message)
        case .portTaken(let number, let holder):
            self.init(.system, "port \(number) is in use by \(holder)")
        case .noAddress: self.init(.system, "this machine has no address at which peers can reach it")
        }
    }

    package init(_ fault: VerificationFault, with peer: PeerID) {
        switch fault {
        case .notLinked: self.init(.notConnected, "\(peer) is not connected")
        case .notEncrypted:
            self.init(.notEncrypted, "the link to \(peer) is not encrypted, so there is no code to compare")
        case .timedOut: self.init(.timedOut, "\(peer) has not asked for the verification code in time")
        case .declined: self.init(.declined, "\(peer) does not compare verification codes now")
        case .noCode: self.init(.invalidArgument, "there is no verification code of the link to \(peer)")
        case .notRemembered(let problem):
            self.init(.file, "\(peer) is verified, and cannot be remembered: \(problem)")
        case .ended(let reason):
            self.init(
                .ended, "the link to \(peer) ended before the codes were compared: \(reason)", reason: reason)
        case .cancelled: self.init(.cancelled, "asking for the code of \(peer) was cancelled")
        case .security(let cause): self.init(cause)
        }
    }

    package init(_ fault: SendFault, to peer: PeerID) {
        switch fault {
        case .notLinked: self.init(.notConnected, "\(peer) is not connected")
        case .tooLong(let count, let limit):
            self.init(.tooLarge, "\(peer) accepts messages of \(limit) bytes, not of \(count)")
        case .ended(let reason): self.init(.ended, "the link to \(peer) ended: \(reason)", reason: reason)
        case .cancelled: self.init(.cancelled, "sending to \(peer) was cancelled")
        case .full: self.init(.full, "too much waits to be sent to \(peer)")
        case .reserved:
            self.init(.invalidArgument, "a message must not begin like those of the session's actor system")
        }
    }

    /// Translates the fault of a channel; `channel` names it, as in "the stream notes to bob".
    package init(_ fault: ChannelFault, in channel: String) {
        switch fault {
        case .notLinked: self.init(.notConnected, "\(channel): the peer is not connected")
        case .invalid(let message): self.init(.invalidArgument, "\(channel): \(message)")
        case .stopped(.tooManyFiles), .reset(.tooManyFiles):
            self.init(
                .tooManyFiles, "\(channel): the peer has too many open files", closeCode: .tooManyFiles)
        case .stopped(let code), .reset(let code):
            self.init(Code(code), "\(channel): the peer gave it up: \(code)", closeCode: code)
        case .ended(let reason):
            self.init(.ended, "\(channel): the link ended: \(reason)", reason: reason)
        case .cancelled: self.init(.cancelled, "\(channel) was cancelled")
        case .finished: self.init(.invalidArgument, "\(channel) was finished before")
        case .inUse: self.init(.invalidArgument, "\(channel) is being read by another task")
        }
    }
}

extension MultipeerError.Code {
    /// Returns the code that a received close code means to the application.
    fileprivate init(_ code: CloseCode) {
        switch code {
        case .cancelled: self = .cancelled
        case .declined: self = .declined
        case .noSpace: self = .noSpace
        case .tooManyFiles: self = .tooManyFiles
        case .digest: self = .damaged
        case .busy: self = .busy
        default: self = .aborted
        }
    }
}
