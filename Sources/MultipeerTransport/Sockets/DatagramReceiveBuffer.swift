import CPlatform
import MultipeerPlatform

/// The buffer for one receive call; used again and again, by any socket of the same thread.
///
/// Safe: it owns the memory, and only what the kernel filled is passed on.
@safe package final class DatagramReceiveBuffer {
    /// Packets, or joins of packets, that one call receives.
    package let slots: Int
    private let size: Int
    private let room: UnsafeMutablePointer<UInt8>
    private let arrivals: UnsafeMutablePointer<multipeer_arrival>

    /// The longest join is 64 KiB; memory that is never written to is never taken from the system.
    package init(slots: Int = 16, size: Int = 65_536) {
        precondition(slots > 0 && slots <= Int(MULTIPEER_PACKETS), "one call cannot receive so much")
        self.slots = slots
        self.size = size
        unsafe room = .allocate(capacity: slots * size)
        unsafe arrivals = .allocate(capacity: slots)
        unsafe arrivals.initialize(repeating: multipeer_arrival(), count: slots)
    }

    deinit {
        unsafe room.deallocate()
        unsafe arrivals.deallocate()
    }

    func fill(from descriptor: Int32) -> Int {
        while true {
            let count = unsafe SystemCalls.receivePackets(descriptor, room, size, arrivals, slots)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Returns nil for an incomplete packet, and for one of an unknown address family.
    func source(of index: Int) -> SocketAddress? {
        if unsafe arrivals[index].is_truncated { return nil }
        let address = unsafe withUnsafeBytes(of: arrivals[index].address) { raw in
            unsafe raw.baseAddress.flatMap { unsafe SocketAddress(bytes: $0) }
        }
        return address.map { SocketAddress($0.host.unmapped, port: $0.port) }
    }

    /// Splits what the kernel joined, and returns how many packets it was. An empty packet is one, too.
    func withPackets(of index: Int, _ body: (Span<UInt8>) -> Void) -> Int {
        let count = unsafe Int(arrivals[index].count)
        let segment = unsafe arrivals[index].segment == 0 ? count : Int(arrivals[index].segment)
        let bytes = unsafe Span(_unsafeStart: room + index * size, count: count)
        var (start, packets) = (0, 0)
        repeat {
            let end = min(start + segment, count)
            body(bytes.extracting(start..<end))
            packets += 1
            start = end
        } while start < count
        return packets
    }
}
