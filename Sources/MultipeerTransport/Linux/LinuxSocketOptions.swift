#if os(Linux) || os(Android)
    import MultipeerPlatform

    /// Options of sockets that Linux alone has, or has with other numbers.
    package enum LinuxSocketOptions {
        /// Sets how long the peer may acknowledge nothing before the connection fails; 0 leaves that to the kernel.
        static func setUserTimeout(_ socket: Int32, milliseconds: Int32) {
            set(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, milliseconds)
        }

        /// Limits the unsent bytes in the kernel.
        static func limitUnsent(_ socket: Int32, to count: Int32) {
            // `TCP_NOTSENT_LOWAT`, which Swift's Glibc module does not have.
            set(socket, Int32(IPPROTO_TCP), 25, count)
        }

        /// Chooses the congestion control that keeps the queues of the network short, if the kernel has it.
        static func chooseCongestionControl(_ socket: Int32) {
            _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_CONGESTION, "bbr", 3)
        }

        /// Sets the receive buffer, beyond the system's limit if the administrator permits that.
        static func setReceiveBuffer(_ socket: Int32, _ count: Int32) {
            if !set(socket, SOL_SOCKET, SO_RCVBUFFORCE, count) { set(socket, SOL_SOCKET, SO_RCVBUF, count) }
        }

        /// Has a socket receive only the groups that it has joined itself. Returns like `setsockopt`.
        package static func receiveOwnGroups(_ socket: Int32, isV4: Bool) -> Bool {
            isV4
                ? set(socket, Int32(IPPROTO_IP), IP_MULTICAST_ALL, 0)
                : set(socket, Int32(IPPROTO_IPV6), IPV6_MULTICAST_ALL, 0)
        }

        /// Binds a socket to an interface. Returns false, with `errno`, when that failed.
        static func bind(_ socket: Int32, toInterface name: String, _: UInt32, isV4 _: Bool) -> Bool {
            unsafe setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count)) == 0
        }

        @discardableResult
        private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
            var value = value
            return unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
        }
    }
#endif
