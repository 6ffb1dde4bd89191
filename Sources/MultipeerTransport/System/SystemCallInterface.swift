import CPlatform
import MultipeerPlatform

/// The calls of the system that are not the same everywhere. What a system lacks does nothing, or fails with an `errno` that says
/// so, and its caller does without.
///
/// `SystemCalls` is the type that was chosen when the package was compiled. Its functions are called without dispatch; with the
/// protocol, the compiler checks that each runtime has all of them.
protocol SystemCallInterface {
    /// Opens a socket that does not block, and that no other program inherits. Returns like `socket`.
    static func socket(_ family: Int32, _ kind: Int32, _ number: Int32) -> Int32

    /// Accepts such a socket. Returns like `accept`.
    static func accept(
        _ listener: Int32, _ address: UnsafeMutableRawPointer, _ length: UnsafeMutablePointer<socklen_t>
    ) -> Int32

    /// A clock that no one sets, and that goes on while the machine sleeps, if the system has one.
    static var clock: clockid_t { get }

    /// Fills the memory with random bytes of the kernel.
    static func fill(_ bytes: UnsafeMutableRawBufferPointer)

    /// Lowers the priority of the calling thread, where threads have their own.
    static func lowerPriority()

    /// Has a program that is to be started inherit no descriptor from `first` on.
    static func closeFrom(_ first: Int32, _ actions: inout posix_spawn_file_actions_t)

    // MARK: datagrams

    /// The best method by which packets are handed to the kernel.
    static var sendMethod: DatagramSocket.SendMethod { get }

    /// Sends `count` bytes as packets of `segment` bytes, of which the last may be shorter; with a `segment` of 0 as one packet.
    /// Returns like `sendmsg`; EOPNOTSUPP where there are no segments.
    static func sendSegments(
        _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
        _ bytes: UnsafeRawPointer?, _ count: Int, segment: UInt16
    ) -> Int

    /// Sends packets of these sizes. Returns how many the kernel took, or -1; ENOSYS where no call takes several.
    static func sendPackets(
        _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
        _ bytes: UnsafePointer<UInt8>?, _ sizes: UnsafeBufferPointer<UInt16>
    ) -> Int

    /// Receives into contiguous buffers, without waiting. Returns how many were filled, or -1.
    static func receivePackets(
        _ socket: Int32, _ room: UnsafeMutableRawPointer, _ size: Int,
        _ arrivals: UnsafeMutablePointer<multipeer_arrival>, _ slots: Int
    ) -> Int

    /// Lets the kernel join packets that arrive together, where it can.
    static func joinPackets(_ socket: Int32)

    // MARK: files

    /// Renames a file unless the new name exists (EEXIST). Returns like `rename`; EINVAL or ENOSYS where that is not possible.
    static func renameToNew(_ folder: Int32, _ from: String, _ to: String) -> Int32

    /// Releases the disk space of a part of a file, where that is possible.
    static func punchHole(_ file: Int32, _ start: Int, _ count: Int)

    /// Has a file read ahead that will be read from its beginning to its end, where that needs a call.
    static func readAhead(_ file: Int32)

    /// The flag that opens a directory as a place for calls that begin there, without the permission to list it; 0 where there is none.
    static var openPlace: Int32 { get }

    /// Creates a file without a name in a directory: it vanishes with this process unless it gets one. Returns like `open`;
    /// EOPNOTSUPP where every file has a name.
    static func openUnnamed(in folder: Int32) -> Int32

    /// Gives it a name, unless that exists. Returns false, with `errno`, when the file did not get the name.
    static func name(_ file: Int32, _ name: String, in folder: Int32) -> Bool
}
