import CPlatform
package import MultipeerPlatform

/// What every system with POSIX does.
package enum PortableCalls: SystemCallInterface {
    package static func socket(_ family: Int32, _ kind: Int32, _ number: Int32) -> Int32 {
        Descriptors.admitted(multipeer_portable_socket(family, kind, number))
    }

    package static func accept(
        _ listener: Int32, _ address: UnsafeMutableRawPointer, _ length: UnsafeMutablePointer<socklen_t>
    ) -> Int32 {
        Descriptors.admitted(unsafe multipeer_portable_accept(listener, address, length))
    }

    /// On Darwin it goes on while the machine sleeps. Where it does not, deadlines come late by the time of the sleep.
    package static var clock: clockid_t { CLOCK_MONOTONIC }

    package static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        let code = unsafe multipeer_portable_random(bytes.baseAddress, bytes.count)
        precondition(code == 0, "the system provides no random numbers")
    }

    /// Does nothing: niceness belongs to a process.
    static func lowerPriority() {}

    /// Closes those that are open now.
    static func closeFrom(_ first: Int32, _ actions: inout posix_spawn_file_actions_t) {
        unsafe multipeer_portable_close_from(&actions, first)
    }
}

// MARK: datagrams

extension PortableCalls {
    static var sendMethod: DatagramSocket.SendMethod { .oneByOne }

    /// There are no segments: EOPNOTSUPP.
    static func sendSegments(
        _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
        _ bytes: UnsafeRawPointer?, _ count: Int, segment: UInt16
    ) -> Int {
        if segment == 0 {
            return unsafe multipeer_portable_send_packet(socket, address, length, bytes, UInt(count))
        }
        errno = EOPNOTSUPP
        return -1
    }

    /// There is no call for several packets: ENOSYS.
    static func sendPackets(
        _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
        _ bytes: UnsafePointer<UInt8>?, _ sizes: UnsafeBufferPointer<UInt16>
    ) -> Int {
        errno = ENOSYS
        return -1
    }

    static func receivePackets(
        _ socket: Int32, _ room: UnsafeMutableRawPointer, _ size: Int,
        _ arrivals: UnsafeMutablePointer<multipeer_arrival>, _ slots: Int
    ) -> Int {
        unsafe Int(multipeer_portable_receive_packets(socket, room, UInt32(size), arrivals, UInt32(slots)))
    }

    /// Does nothing: packets arrive one by one.
    static func joinPackets(_ socket: Int32) {}
}

// MARK: files

extension PortableCalls {
    /// There is no call that renames a file unless the new name exists: ENOSYS.
    package static func renameToNew(_ folder: Int32, _ from: String, _ to: String) -> Int32 {
        errno = ENOSYS
        return -1
    }

    /// Does nothing: the space is released with the file.
    static func punchHole(_ file: Int32, _ start: Int, _ count: Int) {}

    /// Does nothing: systems see by themselves how a file is read.
    static func readAhead(_ file: Int32) {}

    /// There is no such flag that all systems have.
    package static var openPlace: Int32 { 0 }

    /// There are no files without a name: EOPNOTSUPP.
    package static func openUnnamed(in folder: Int32) -> Int32 {
        errno = EOPNOTSUPP
        return -1
    }

    /// Never called, as there is no file without a name.
    static func name(_ file: Int32, _ name: String, in folder: Int32) -> Bool {
        errno = EOPNOTSUPP
        return false
    }
}
