// The only file of the module that accesses raw memory. The standard library cannot bulk-copy a `Span` yet,
// and a safe loop is 1.5 times slower at 16 KiB (204 ns against 134 in a release build; 1.6 times for a new
// array). Each use passes a whole, checked span to a bulk operation of the standard library; no pointer
// outlives its closure.

extension Array where Element == UInt8 {
    /// Creates an array with the contents of `bytes`, in one bulk copy.
    @inlinable
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Appends the contents of `bytes` in one bulk copy.
    @inlinable
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

extension MutableSpan where Element == UInt8 {
    /// Overwrites the first `bytes.count` bytes, which must exist.
    @inlinable
    package mutating func overwrite(with bytes: Span<UInt8>) {
        precondition(bytes.count <= count, "copying more than there is room for")
        unsafe withUnsafeMutableBufferPointer { room in
            unsafe bytes.withUnsafeBufferPointer { source in
                guard let to = room.baseAddress, let from = source.baseAddress else { return }
                unsafe to.update(from: from, count: source.count)
            }
        }
    }

    /// Copies the bytes of `range` to the start; the two regions may overlap.
    package mutating func moveToFront(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "moving bytes that are not there")
        unsafe withUnsafeMutableBufferPointer { room in
            guard let start = room.baseAddress else { return }
            unsafe start.update(from: start + range.lowerBound, count: range.count)
        }
    }
}
