/// Bytes waiting to be read, in one growing allocation: written at the tail, read at the head.
///
/// Invariant: `0 <= head <= tail <= storage.count`. The bytes between head and tail are the contents; those behind the
/// tail are scratch. Reading never copies, and reading everything moves both ends back to the start.
package struct ByteBuffer: ~Copyable, Sendable {
    private var storage: [UInt8]
    private var head = 0
    private var tail = 0

    package init(capacity: Int = 0) { storage = [UInt8](repeating: 0, count: capacity) }

    package var count: Int { tail &- head }
    package var isEmpty: Bool { head == tail }
    package var capacity: Int { storage.count }

    /// Makes room for `count` more bytes behind the tail, moving the contents to the front when that is enough.
    package mutating func reserve(_ count: Int) {
        if storage.count - tail >= count { return }
        let used = self.count
        if storage.count - used >= count {
            for index in 0..<used { storage[index] = storage[head + index] }
        } else {
            var grown = [UInt8](repeating: 0, count: max(storage.count * 2, used + count))
            for index in 0..<used { grown[index] = storage[head + index] }
            storage = grown
        }
        head = 0
        tail = used
    }

    package mutating func append(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        for index in bytes.indices { storage[tail + index] = bytes[index] }
        tail += bytes.count
    }

    package mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

    package mutating func append<Integer: FixedWidthInteger & UnsignedInteger>(_ value: Integer) {
        reserve(Integer.bitWidth / 8)
        var shift = Integer.bitWidth
        while shift > 0 {
            shift -= 8
            storage[tail] = UInt8(truncatingIfNeeded: value >> Integer(shift))
            tail += 1
        }
    }

    /// Lends room for at least `count` bytes behind the tail; `body` answers how many it filled.
    package mutating func write<Failure: Error>(
        upTo count: Int, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        reserve(count)
        let end = tail
        var room = storage.mutableSpan
        var free = room._mutatingExtracting(end..<(end + count))
        let written = try body(&free)
        precondition(written >= 0 && written <= count, "a writer filled more than it was lent")
        tail += written
        return written
    }

    /// Lends the contents; they stay until `discard`.
    package borrowing func read<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.span.extracting(head..<tail))
    }

    /// Drops `count` bytes from the head.
    package mutating func discard(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "discarding more than there is")
        head += count
        if head == tail { removeAll() }
    }

    package mutating func removeAll() {
        head = 0
        tail = 0
    }

    package mutating func takeAll() -> [UInt8] {
        let bytes = Array(storage[head..<tail])
        removeAll()
        return bytes
    }
}
