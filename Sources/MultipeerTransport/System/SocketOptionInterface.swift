/// The options of sockets, and of the list of interfaces, that are not the same on every system. What a system has no option for
/// stays as it is: none is necessary. Both runtimes use those of the system.
protocol SocketOptionInterface {
    /// Sets how long the peer may acknowledge nothing before the connection fails; 0 leaves that to the kernel.
    static func setUserTimeout(_ socket: Int32, milliseconds: Int32)

    /// Limits the time between two attempts to send the same data, however often it was repeated. Returns false when the system has
    /// no such option.
    static func limitBackOff(_ socket: Int32, milliseconds: Int32) -> Bool

    /// Limits the packets of a socket that is not connected yet, in both directions, to that many bytes of data.
    static func limitSegments(_ socket: Int32, to count: Int32)

    /// Returns what the system knows of the way of the data of a connection; nil when it does not report that.
    static func transmission(_ socket: Int32) -> TransmissionState?

    /// Limits the unsent bytes in the kernel.
    static func limitUnsent(_ socket: Int32, to count: Int32)

    /// Chooses the congestion control that keeps the queues of the network short, if the kernel has it.
    static func chooseCongestionControl(_ socket: Int32)

    /// Sets the receive buffer, beyond the system's limit if the administrator permits that.
    static func setReceiveBuffer(_ socket: Int32, _ count: Int32)

    /// Has a socket receive only the groups that it has joined itself. Returns whether it does.
    static func receiveOwnGroups(_ socket: Int32, isV4: Bool) -> Bool

    /// Binds a socket to an interface. Returns false, with `errno`, when that failed.
    static func bind(_ socket: Int32, toInterface name: String, _ index: UInt32, isV4: Bool) -> Bool

    /// Returns the interfaces when `getifaddrs` has failed with this; throws it where there is no other way.
    static func interfaces(after fault: SocketFault) throws(SocketFault) -> InterfaceTable
}
