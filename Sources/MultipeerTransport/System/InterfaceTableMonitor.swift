package import MultipeerCore

/// The interfaces of this machine, kept up to date. Lives on a loop, which calls `read` when the descriptor is ready, or when the
/// deadline has come: each runtime has one of the two.
package protocol InterfaceTableMonitor: AnyObject {
    var table: InterfaceTable { get }
    /// Only for `EventLoop.register`; deregister it before the monitor goes.
    var descriptor: Int32? { get }
    var deadline: Moment? { get }

    /// Reads the present state.
    init() throws(SocketFault)

    /// Brings the table up to date. Returns whether there were changes. What cannot be read stays as it was.
    func read() -> Bool
}
