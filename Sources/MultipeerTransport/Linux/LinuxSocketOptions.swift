#if os(Linux) || os(Android)
    import MultipeerPlatform

    /// Options of sockets that Linux alone has, or has with other numbers.
    package enum LinuxSocketOptions: SocketOptionInterface {
        static func setUserTimeout(_ socket: Int32, milliseconds: Int32) {
            set(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, milliseconds)
        }

        static func limitUnsent(_ socket: Int32, to count: Int32) {
            // `TCP_NOTSENT_LOWAT`, which Swift's Glibc module does not have.
            set(socket, Int32(IPPROTO_TCP), 25, count)
        }

        static func chooseCongestionControl(_ socket: Int32) {
            _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_CONGESTION, "bbr", 3)
        }

        static func setReceiveBuffer(_ socket: Int32, _ count: Int32) {
            if !set(socket, SOL_SOCKET, SO_RCVBUFFORCE, count) { set(socket, SOL_SOCKET, SO_RCVBUF, count) }
        }

        package static func receiveOwnGroups(_ socket: Int32, isV4: Bool) -> Bool {
            isV4
                ? set(socket, Int32(IPPROTO_IP), IP_MULTICAST_ALL, 0)
                : set(socket, Int32(IPPROTO_IPV6), IPV6_MULTICAST_ALL, 0)
        }

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
