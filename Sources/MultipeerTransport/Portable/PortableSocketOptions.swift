#if !os(Linux) && !os(Android)
    import MultipeerPlatform

    /// Options of sockets where the system is not Linux: those of Darwin, by their numbers.
    package enum PortableSocketOptions: SocketOptionInterface {
        static func setUserTimeout(_ socket: Int32, milliseconds: Int32) {
            // `TCP_RXT_CONNDROPTIME`, in seconds.
            let seconds = milliseconds / 1_000 + (milliseconds % 1_000 == 0 ? 0 : 1)
            set(socket, Int32(IPPROTO_TCP), 0x80, seconds)
        }

        static func limitBackOff(_ socket: Int32, milliseconds: Int32) -> Bool { false }

        package static func limitSegments(_ socket: Int32, to count: Int32) {
            set(socket, Int32(IPPROTO_TCP), TCP_MAXSEG, count)
        }

        package static func transmission(_ socket: Int32) -> TransmissionState? { nil }

        static func limitUnsent(_ socket: Int32, to count: Int32) {
            // `TCP_NOTSENT_LOWAT`.
            set(socket, Int32(IPPROTO_TCP), 0x201, count)
        }

        /// Leaves the choice to the system.
        static func chooseCongestionControl(_ socket: Int32) {}

        static func setReceiveBuffer(_ socket: Int32, _ count: Int32) {
            set(socket, SOL_SOCKET, SO_RCVBUF, count)
        }

        /// Does nothing: a socket receives no other groups anyway.
        package static func receiveOwnGroups(_ socket: Int32, isV4: Bool) -> Bool { true }

        static func bind(_ socket: Int32, toInterface name: String, _ index: UInt32, isV4: Bool) -> Bool {
            // `IP_BOUND_IF` and `IPV6_BOUND_IF`.
            isV4
                ? set(socket, Int32(IPPROTO_IP), 25, Int32(bitPattern: index))
                : set(socket, Int32(IPPROTO_IPV6), 125, Int32(bitPattern: index))
        }

        static func interfaces(after fault: SocketFault) throws(SocketFault) -> InterfaceTable { throw fault }

        @discardableResult
        private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
            var value = value
            return unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
        }
    }
#endif
