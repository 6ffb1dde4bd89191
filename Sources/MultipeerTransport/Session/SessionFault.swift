import MultipeerEngine
package import MultipeerHandshake
package import MultipeerMesh
package import MultipeerSecurity

/// Why a call on a session failed.
package enum SessionFault: Error, Equatable, Sendable {
    case network(SocketFault)
    case security(SecurityFault)
    case invalidData(InvalidConnectionData)
    /// The link could not be made, or ended.
    case refused(DisconnectReason)
    /// A field of the configuration, or an argument, is outside its range.
    case invalidArgument(String)
    /// The port that was asked for is in use, by this holder.
    case portTaken(UInt16, by: String)
    /// This session has no address that a peer could reach.
    case noAddress

    init(_ fault: ConnectionDataFault) {
        switch fault {
        case .star: self = .invalidArgument("a session whose topology is star joins no mesh")
        case .invalid(let problem): self = .invalidData(problem)
        }
    }

    static func network<Value>(_ body: () throws(SocketFault) -> Value) throws(SessionFault) -> Value {
        do throws(SocketFault) { return try body() } catch { throw .network(error) }
    }

    static func security<Value>(_ body: () throws(SecurityFault) -> Value) throws(SessionFault) -> Value {
        do throws(SecurityFault) { return try body() } catch { throw .security(error) }
    }
}
