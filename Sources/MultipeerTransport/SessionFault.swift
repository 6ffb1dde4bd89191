package import MultipeerIntroduction
package import MultipeerMesh
package import MultipeerSecurity

/// Why a call on a session failed.
package enum SessionFault: Error, Equatable, Sendable {
    case network(SocketFault)
    case security(SecurityFault)
    case invalidData(InvalidConnectionData)
    /// The link could not be made, or ended.
    case refused(EndReason)
    /// There is no address at which anybody could reach this session.
    case noAddress

    static func network<Value>(_ body: () throws(SocketFault) -> Value) throws(SessionFault) -> Value {
        do throws(SocketFault) { return try body() } catch { throw .network(error) }
    }

    static func security<Value>(_ body: () throws(SecurityFault) -> Value) throws(SessionFault) -> Value {
        do throws(SecurityFault) { return try body() } catch { throw .security(error) }
    }
}
