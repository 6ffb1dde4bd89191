import MultipeerPlatform

/// Why the operating system refused something that has to do with sockets.
package enum SocketFault: Error, Hashable, Sendable {
    case refused
    case unreachable
    case timedOut
    case reset
    case addressInUse
    case addressUnavailable
    case permission
    case tooManyFiles
    /// The process, its user or its control group has as many threads as it may have.
    case noThread
    /// What has no name here: the value of `errno`.
    case other(Int32)

    /// The calls that fail say why in `errno`; read it before anything else can change it.
    static var last: SocketFault { SocketFault(errno: errno) }

    init(errno code: Int32) {
        self =
            switch code {
            case ECONNREFUSED: .refused
            case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN: .unreachable
            case ETIMEDOUT: .timedOut
            case ECONNRESET, EPIPE: .reset
            case EADDRINUSE: .addressInUse
            case EADDRNOTAVAIL: .addressUnavailable
            case EACCES, EPERM: .permission
            case EMFILE, ENFILE: .tooManyFiles
            default: .other(code)
            }
    }
}

extension SocketFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused: "connection refused"
        case .unreachable: "network or host unreachable"
        case .timedOut: "timed out"
        case .reset: "connection reset"
        case .addressInUse: "address in use"
        case .addressUnavailable: "address not available"
        case .permission: "not permitted"
        case .tooManyFiles: "too many open files"
        case .noThread: "no thread can be started; see the limits of 'ulimit -u' and pids.max"
        case .other(let code): SystemMessage.text(code)
        }
    }
}
