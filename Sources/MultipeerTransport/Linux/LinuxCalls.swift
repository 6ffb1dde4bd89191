#if os(Linux) || os(Android)
    import CPlatform
    package import MultipeerPlatform

    /// What Linux does with one call, or at all. `PortableCalls` has the same functions for every system.
    package enum LinuxCalls {
        /// Opens a socket that does not block, and that no other program inherits. Returns like `socket`.
        package static func socket(_ family: Int32, _ kind: Int32, _ number: Int32) -> Int32 {
            multipeer_linux_socket(family, kind, number)
        }

        /// Accepts such a socket. Returns like `accept`.
        package static func accept(
            _ listener: Int32, _ address: UnsafeMutableRawPointer, _ length: UnsafeMutablePointer<socklen_t>
        ) -> Int32 {
            unsafe multipeer_linux_accept(listener, address, length)
        }

        /// A clock that goes on while the machine sleeps.
        package static var clock: clockid_t { CLOCK_BOOTTIME }

        /// Fills the memory with random bytes of the kernel.
        static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: rest)
                let count = unsafe multipeer_linux_random(room.baseAddress, room.count)
                // The only possible fault is a kernel without the call: no secret can be made then.
                precondition(count > 0 || errno == EINTR, "the system provides no random numbers")
                unsafe rest = rest.dropFirst(max(count, 0))
            }
        }

        /// Lowers the priority of the calling thread: here niceness belongs to a thread.
        static func lowerPriority() { _ = nice(10) }

        /// Has a program that is to be started inherit no descriptor from `first` on.
        static func closeFrom(_ first: Int32, _ actions: inout posix_spawn_file_actions_t) {
            unsafe multipeer_linux_close_from(&actions, first)
        }
    }

    // MARK: datagrams

    extension LinuxCalls {
        /// The best method by which packets are handed to the kernel.
        static var sendMethod: DatagramSocket.SendMethod { .segments }

        /// Sends `count` bytes as packets of `segment` bytes, of which the last may be shorter; with a `segment` of 0 as one packet.
        static func sendSegments(
            _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
            _ bytes: UnsafeRawPointer?, _ count: Int, segment: UInt16
        ) -> Int {
            unsafe multipeer_linux_send_segments(socket, address, length, bytes, UInt(count), segment)
        }

        /// Sends packets of these sizes, and returns how many the kernel took.
        static func sendPackets(
            _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
            _ bytes: UnsafePointer<UInt8>?, _ sizes: UnsafeBufferPointer<UInt16>
        ) -> Int {
            unsafe Int(
                multipeer_linux_send_packets(
                    socket, address, length, bytes, sizes.baseAddress, UInt32(sizes.count)))
        }

        /// Receives into contiguous buffers, and returns how many were filled.
        static func receivePackets(
            _ socket: Int32, _ room: UnsafeMutableRawPointer, _ size: Int,
            _ arrivals: UnsafeMutablePointer<multipeer_arrival>, _ slots: Int
        ) -> Int {
            unsafe Int(
                multipeer_linux_receive_packets(socket, room, UInt32(size), arrivals, UInt32(slots)))
        }

        /// Lets the kernel join packets that arrive together.
        static func joinPackets(_ socket: Int32) { _ = multipeer_linux_join_packets(socket) }
    }

    // MARK: files

    extension LinuxCalls {
        /// Renames a file unless the new name exists (EEXIST). Returns like `rename`; EINVAL and ENOSYS where that is not possible.
        static func renameToNew(_ folder: Int32, _ from: String, _ to: String) -> Int32 {
            unsafe multipeer_linux_rename_to_new(folder, from, to)
        }

        /// Releases the disk space of a part of a file, where that is possible.
        static func punchHole(_ file: Int32, _ start: Int, _ count: Int) {
            multipeer_linux_punch_hole(file, Int64(start), Int64(count))
        }

        /// Has a file read ahead that will be read from its beginning to its end.
        static func readAhead(_ file: Int32) { posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL) }

        /// Creates a file without a name in a directory: it vanishes with this process unless it gets one. Returns like `open`.
        static func openUnnamed(in folder: Int32) -> Int32 {
            unsafe openat(folder, ".", O_WRONLY | temporary | O_CLOEXEC, 0o600)
        }

        /// Gives it a name, unless that exists. Returns false, with `errno`, when the file did not get the name.
        static func name(_ file: Int32, _ name: String, in folder: Int32) -> Bool {
            // What Linux allows every process since version 6.10, and a privileged one before.
            if unsafe linkat(file, "", folder, name, emptyPath) == 0 { return true }
            guard errno == ENOENT || errno == EPERM else { return false }
            return unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file)", folder, name, AT_SYMLINK_FOLLOW) == 0
        }

        /// `O_TMPFILE`, which is not imported: its own bit, and that of a directory.
        private static var temporary: Int32 { 0o20_000_000 | O_DIRECTORY }
        /// `AT_EMPTY_PATH`, which is not imported.
        private static var emptyPath: Int32 { 0x1000 }
    }
#endif
