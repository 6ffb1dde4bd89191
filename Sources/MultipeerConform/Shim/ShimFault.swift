import Multipeer

/// Why a request failed.
enum ShimFault: Error {
    /// The operation, or this parameter of it, is not implemented: the case is to be skipped.
    case unimplemented(String?)
    case failed(ShimReason)

    static func invalid(_ text: String) -> ShimFault { .failed(ShimReason(.internal, text)) }

    static func translating<Value: Sendable>(
        _ body: () async throws(MultipeerError) -> Value
    ) async throws(ShimFault) -> Value {
        do throws(MultipeerError) { return try await body() } catch { throw .failed(ShimReason(error)) }
    }
}

/// Why something failed or ended: a code of the specification, INTERNAL if none fits, and text for people.
struct ShimReason: Error {
    let code: CloseCode
    let text: String

    init(_ code: CloseCode, _ text: String) { (self.code, self.text) = (code, text) }

    init(_ error: MultipeerError) {
        if let reason = error.reason {
            self.init(reason.shimCode ?? .internal, error.description)
        } else {
            self.init(error.closeCode?.known ?? ShimReason.codes[error.code] ?? .internal, error.description)
        }
    }

    /// The fields of a reply or an event.
    var fields: [String: ShimValue?] { ["error": .text(code.name), "reason": .text(text)] }

    /// The fields of the outcome of an invitation.
    var result: [String: ShimValue?] { ["result": .text(code.name), "reason": .text(text)] }

    private static let codes: [MultipeerError.Code: CloseCode] = [
        .notConnected: .unknownPeer, .tooLarge: .tooLarge, .timedOut: .timeout, .cancelled: .cancelled,
        .declined: .declined, .noSpace: .noSpace, .damaged: .digest, .busy: .busy, .full: .full,
        .incompatible: .policy, .notEncrypted: .policy, .wrongCode: .wrongCode, .unknownCode: .wrongCode,
        .codeRequired: .codeRequired, .tooManyFiles: .tooManyFiles,
    ]
}

extension DisconnectReason {
    /// The reason as one word of the shim protocol.
    var shimWord: String {
        switch code {
        case .goodbye, .closedByPeer: "closedByPeer"
        case .left: "left"
        case .cancelled: "cancelled"
        case .timedOut: "timeout"
        case .lost: "lost"
        case .full: "full"
        case .superseded: "superseded"
        case .gone: "withdrawn"
        case .protocolViolation: "ruleBroken"
        case .policy, .rejected, .version, .busy, .unknownPeer, .selfConnection: "refused"
        default: "closed"
        }
    }

    /// The close code that was sent or received, or that stands for the reason; nil if there is none.
    var shimCode: CloseCode? {
        if let closeCode { return closeCode.known }
        return switch code {
        case .goodbye, .left: .goodbye
        case .cancelled: .cancelled
        case .timedOut: .timeout
        case .full: .full
        case .policy: .policy
        case .rejected: .rejected
        case .codesDiffer: .wrongCode
        case .version: .version
        case .busy: .busy
        case .unknownPeer: .unknownPeer
        case .selfConnection: .itself
        case .superseded: .duplicate
        case .protocolViolation: .protocolError
        case .internal: .internal
        default: nil
        }
    }
}
