#if !os(Linux) && !os(Android)
    /// How large the packets of a TCP connection are is only known on Linux.
    package enum SegmentOptions {
        package struct State: Equatable, Sendable {
            package let data: Int
            package let options: Int
            package let unacknowledged: Int
            package let roundTrip: Duration
        }

        package static func limit(_ socket: Int32, to count: Int) {}

        package static func state(_ socket: Int32) -> State? { nil }
    }
#endif
