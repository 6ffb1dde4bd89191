import MultipeerEngine
import MultipeerFraming

/// An attacker between the ends of all connections, who also sees what sessions tell their applications: for tests and
/// for fuzzing.
protocol Interceptor: AnyObject {
    /// What goes on its way instead of this frame; nil for nothing.
    func forward(_ frame: [UInt8], from socket: SimulatedSocket) -> [UInt8]?
    /// A frame, or a piece of a long one, has come to this end.
    func arrived(_ bytes: [UInt8], at socket: SimulatedSocket)
    func told(_ output: SessionOutput, to node: Node)
}
