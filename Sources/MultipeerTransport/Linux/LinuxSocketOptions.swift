#if os(Linux) || os(Android)
    import MultipeerPlatform

    /// Options of sockets that Linux alone has, or has with other numbers.
    package enum LinuxSocketOptions: SocketOptionInterface {
        static func setUserTimeout(_ socket: Int32, milliseconds: Int32) {
            set(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, milliseconds)
        }

        static func limitBackOff(_ socket: Int32, milliseconds: Int32) -> Bool {
            // `TCP_RTO_MAX_MS`, since Linux 6.15.
            set(socket, Int32(IPPROTO_TCP), 44, milliseconds)
        }

        package static func limitSegments(_ socket: Int32, to count: Int32) {
            set(socket, Int32(IPPROTO_TCP), TCP_MAXSEG, count)
        }

        package static func transmission(_ socket: Int32) -> TransmissionState? {
            // The fields of `tcp_info` that Linux has had since version 4.10; the module of the C library has fewer.
            var bytes = [UInt8](repeating: 0, count: 168)
            var size = socklen_t(bytes.count)
            let code = unsafe bytes.withUnsafeMutableBytes { room in
                unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, room.baseAddress, &size)
            }
            guard code == 0, Int(size) == bytes.count else { return nil }
            return unsafe bytes.withUnsafeBytes { fields in
                func word(_ place: Int) -> UInt32 {
                    unsafe fields.loadUnaligned(fromByteOffset: place, as: UInt32.self)
                }
                func long(_ place: Int) -> UInt64 {
                    unsafe fields.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                }
                var state = TransmissionState()
                state.segment = Int(word(16))
                state.optionBytes = unsafe fields[5] & 1 == 1 ? 12 : 0
                state.isWaiting = word(24) > 0
                state.repetitions = unsafe Int(fields[2])
                state.isBackingOff = unsafe fields[4] > 0
                state.timeout = .microseconds(word(8))
                state.sinceSent = .milliseconds(word(44))
                state.sinceAcknowledgement = .milliseconds(word(56))
                state.roundTrip = .microseconds(word(68))
                state.acknowledged = long(120)
                state.received = long(128)
                state.hasRepeated = word(100) > 0
                state.rate = long(160)
                state.isRateLow = unsafe fields[7] & 1 == 1
                return state
            }
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

        package static func interfaces(after fault: SocketFault) throws(SocketFault) -> InterfaceTable {
            if fault == .tooManyFiles { throw fault }
            return try InterfaceTable.byCalls()
        }

        @discardableResult
        private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
            var value = value
            return unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
        }
    }
#endif
