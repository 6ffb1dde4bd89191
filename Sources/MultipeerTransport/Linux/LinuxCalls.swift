#if os(Linux) || os(Android)
    import CPlatform
    package import MultipeerPlatform

    /// What Linux does with one call, or at all.
    package enum LinuxCalls: SystemCallInterface {
        package static func socket(_ family: Int32, _ kind: Int32, _ number: Int32) -> Int32 {
            Descriptors.admitted(multipeer_linux_socket(family, kind, number))
        }

        package static func accept(
            _ listener: Int32, _ address: UnsafeMutableRawPointer, _ length: UnsafeMutablePointer<socklen_t>
        ) -> Int32 {
            Descriptors.admitted(unsafe multipeer_linux_accept(listener, address, length))
        }

        package static var clock: clockid_t { CLOCK_BOOTTIME }

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

        /// Niceness belongs to a thread here.
        static func lowerPriority() { _ = nice(10) }

        static func closeFrom(_ first: Int32, _ actions: inout posix_spawn_file_actions_t) {
            unsafe multipeer_linux_close_from(&actions, first)
        }
    }

    // MARK: datagrams

    extension LinuxCalls {
        static var sendMethod: DatagramSocket.SendMethod { .segments }

        static func sendSegments(
            _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
            _ bytes: UnsafeRawPointer?, _ count: Int, segment: UInt16
        ) -> Int {
            unsafe multipeer_linux_send_segments(socket, address, length, bytes, UInt(count), segment)
        }

        static func sendPackets(
            _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t,
            _ bytes: UnsafePointer<UInt8>?, _ sizes: UnsafeBufferPointer<UInt16>
        ) -> Int {
            unsafe Int(
                multipeer_linux_send_packets(
                    socket, address, length, bytes, sizes.baseAddress, UInt32(sizes.count)))
        }

        static func receivePackets(
            _ socket: Int32, _ room: UnsafeMutableRawPointer, _ size: Int,
            _ arrivals: UnsafeMutablePointer<multipeer_arrival>, _ slots: Int
        ) -> Int {
            unsafe Int(
                multipeer_linux_receive_packets(socket, room, UInt32(size), arrivals, UInt32(slots)))
        }

        static func joinPackets(_ socket: Int32) { _ = multipeer_linux_join_packets(socket) }
    }

    // MARK: files

    extension LinuxCalls {
        static func renameToNew(_ folder: Int32, _ from: String, _ to: String) -> Int32 {
            unsafe multipeer_linux_rename_to_new(folder, from, to)
        }

        static func punchHole(_ file: Int32, _ start: Int, _ count: Int) {
            multipeer_linux_punch_hole(file, Int64(start), Int64(count))
        }

        static func readAhead(_ file: Int32) { posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL) }

        /// `O_PATH`, which is not imported.
        static var openPlace: Int32 { 0o10_000_000 }

        static func openUnnamed(in folder: Int32) -> Int32 {
            Descriptors.open(".", in: folder, O_WRONLY | temporary | O_CLOEXEC, 0o600)
        }

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
