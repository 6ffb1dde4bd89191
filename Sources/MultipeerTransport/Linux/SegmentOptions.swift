#if os(Linux) || os(Android)
    import MultipeerPlatform

    /// How large the packets of a TCP connection are, and whether they arrive.
    package enum SegmentOptions {
        /// What the system knows of a connection.
        package struct State: Equatable, Sendable {
            /// The data of its largest packet, in bytes.
            package let data: Int
            /// What precedes that in the packet, after the headers without options.
            package let options: Int
            /// Packets that the other side has not acknowledged.
            package let unacknowledged: Int
            package let roundTrip: Duration
        }

        /// Limits the packets of a socket that is not connected yet, in both directions, to this many bytes of data and options.
        package static func limit(_ socket: Int32, to count: Int) {
            var value = Int32(clamping: count)
            let size = socklen_t(MemoryLayout<Int32>.size)
            _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_MAXSEG, &value, size)
        }

        /// Returns nil where the system does not say.
        package static func state(_ socket: Int32) -> State? {
            // The first fields of `tcp_info`: those of the modules of C libraries are not the same everywhere.
            var bytes = [UInt8](repeating: 0, count: 72)
            var size = socklen_t(bytes.count)
            guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &bytes, &size) == 0,
                Int(size) == bytes.count
            else { return nil }
            func word(_ place: Int) -> Int {
                unsafe bytes.withUnsafeBytes {
                    Int(unsafe $0.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                }
            }
            let hasTimestamps = bytes[5] & 1 == 1
            return State(
                data: word(16), options: hasTimestamps ? 12 : 0, unacknowledged: word(24),
                roundTrip: .microseconds(word(68)))
        }
    }
#endif
