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

package enum InterfaceMonitors {
    package typealias Opening = () throws(SocketFault) -> any InterfaceTableMonitor

    /// Returns that of the runtime; or, where the system forbids it as some sandboxes do, the one that looks from time to time.
    package static func open(
        _ first: Opening = { () throws(SocketFault) in try InterfaceMonitor() }
    ) throws(SocketFault) -> any InterfaceTableMonitor {
        do throws(SocketFault) { return try first() } catch {
            // Another one needs a descriptor, too.
            if error == .tooManyFiles { throw error }
            return try AddressListMonitor()
        }
    }

    /// Returns why the system does not let this process have the monitor of the runtime; nil when it does.
    package static func problem() -> SocketFault? {
        do throws(SocketFault) { _ = try InterfaceMonitor() } catch { return error }
        return nil
    }
}
