/// Bytes waiting to be read, in one growing allocation: written at the tail, read at the head.
///
/// Invariant: `0 <= head <= tail <= storage.count`. The bytes between head and tail are the contents; those
/// after the tail are scratch space. Reading never copies, and reading everything resets head and tail to the
/// start.
@usableFromInline
package struct ByteBuffer: ~Copyable, Sendable {
    @usableFromInline var storage: [UInt8]
    @usableFromInline var head = 0
    @usableFromInline var tail = 0

    @inlinable
    package init(capacity: Int = 0) { storage = [UInt8](repeating: 0, count: capacity) }

    @inlinable package var count: Int { tail &- head }
    @inlinable package var isEmpty: Bool { head == tail }
    @inlinable package var capacity: Int { storage.count }

    /// Makes room for `count` more bytes after the tail, moving the contents to the front when that suffices.
    @inlinable
    package mutating func reserve(_ count: Int) {
        if storage.count &- tail < count { makeRoom(for: count) }
    }

    @usableFromInline
    mutating func makeRoom(for count: Int) {
        precondition(count >= 0, "reserving fewer than no bytes")
        let used = self.count
        // Moving only when that frees a quarter keeps the cost of moving proportional to what is appended.
        if storage.count - used >= count && head >= storage.count / 4 {
            let contents = head..<tail
            var all = storage.mutableSpan
            all.moveToFront(contents)
        } else {
            var grown = [UInt8](repeating: 0, count: max(storage.count * 2, used + count))
            var room = grown.mutableSpan
            room.overwrite(with: storage.span.extracting(head..<tail))
            storage = grown
        }
        head = 0
        tail = used
    }

    @inlinable
    package mutating func append(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        let start = tail
        let end = start &+ bytes.count
        var all = storage.mutableSpan
        var room = all._mutatingExtracting(start..<end)
        room.overwrite(with: bytes)
        tail = end
    }

    @inlinable package mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

    @inlinable
    package mutating func append<Integer: FixedWidthInteger & UnsignedInteger>(_ value: Integer) {
        let size = Integer.bitWidth / 8
        reserve(size)
        let start = tail
        let end = start &+ size
        var all = storage.mutableSpan
        var room = all._mutatingExtracting(start..<end)
        for index in 0..<size {  // [int.big-endian]
            room[index] = UInt8(truncatingIfNeeded: value >> Integer(8 &* (size &- 1 &- index)))
        }
        tail = end
    }

    /// Lends room for at least `count` bytes after the tail; `body` returns how many it filled.
    @inlinable
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

    /// Lends the contents, which remain until `discard`.
    @inlinable
    package borrowing func read<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.span.extracting(head..<tail))
    }

    /// Drops `count` bytes from the head.
    @inlinable
    package mutating func discard(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "discarding more than there is")
        head += count
        if head == tail { removeAll() }
    }

    @inlinable
    package mutating func removeAll() {
        head = 0
        tail = 0
    }

    package mutating func takeAll() -> [UInt8] {
        let bytes = [UInt8](copying: storage.span.extracting(head..<tail))
        removeAll()
        return bytes
    }

    /// Overwrites the byte at `offset` from the head, which must already exist.
    mutating func replace(at offset: Int, with byte: UInt8) {
        precondition(offset >= 0 && offset < count, "replacing a byte that was not written")
        storage[head + offset] = byte
    }
}
