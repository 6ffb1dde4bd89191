import MultipeerEngine
import MultipeerFraming

/// An attacker between the ends of all connections, which also sees what sessions report to their applications: for
/// tests and for fuzzing.
protocol Interceptor: AnyObject {
    /// Returns what is sent on instead of this frame; nil for nothing.
    func forward(_ frame: [UInt8], from socket: SimulatedSocket) -> [UInt8]?
    /// Handles a frame, or a piece of a long one, that has arrived at this end.
    func arrived(_ bytes: [UInt8], at socket: SimulatedSocket)
    func told(_ output: SessionOutput, to node: Node)
}
