package import MultipeerFraming

/// UDP packets that wait to be sent to one address, in one buffer.
package struct DatagramBatch: ~Copyable, Sendable {
    private(set) var bytes = ByteBuffer()
    /// The sizes of all packets; those from index `sent` on add up to the size of `bytes`.
    private var sizes: [UInt16] = []
    private var sent = 0

    package init() {}

    /// Packets that wait.
    package var count: Int { sizes.count - sent }
    package var byteCount: Int { bytes.count }
    package var isEmpty: Bool { count == 0 }

    /// Adds a packet; `body` writes it. An empty one is none.
    package mutating func append(_ body: (inout ByteBuffer) -> Void) {
        let before = bytes.count
        body(&bytes)
        let size = bytes.count - before
        precondition(size >= 0 && size <= DatagramSocket.longestRun, "no packet is that long")
        if size > 0 { sizes.append(UInt16(size)) }
    }

    package mutating func append(_ packet: Span<UInt8>) { append { $0.append(packet) } }

    package mutating func removeAll() {
        bytes.removeAll()
        sizes.removeAll(keepingCapacity: true)
        sent = 0
    }

    /// The sizes of what waits.
    var waiting: ArraySlice<UInt16> { sizes[sent...] }

    /// The first packets, as many as one call can send as segments: of equal size, the last may be shorter.
    package func run() -> (packets: Int, bytes: Int) {
        guard let size = waiting.first else { return (0, 0) }
        var (packets, bytes) = (1, Int(size))
        for next in waiting.dropFirst() {
            let isLonger = next > size || bytes + Int(next) > DatagramSocket.longestRun
            if isLonger || packets == DatagramSocket.mostSegments { break }
            packets += 1
            bytes += Int(next)
            if next < size { break }
        }
        return (packets, bytes)
    }

    /// Drops the first packets.
    mutating func removeFirst(_ packets: Int) {
        bytes.discard(waiting.prefix(packets).reduce(0) { $0 + Int($1) })
        sent += packets
        if sent == sizes.count { return removeAll() }
        guard sent >= sizes.count / 2 else { return }
        sizes.removeFirst(sent)
        sent = 0
    }
}
