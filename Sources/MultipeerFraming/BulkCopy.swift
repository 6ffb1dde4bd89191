// The one place of the module that touches raw memory. A safe loop over a `Span` keeps a bounds check in every turn,
// so it does not vectorise (measured: see the commit that added this file); the standard library has no bulk copy
// from a `Span` yet. Each use below hands a whole, checked span to a bulk operation of the standard library.

extension Array where Element == UInt8 {
    /// The bytes of `bytes`, copied in one piece.
    @inlinable
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Adds the bytes of `bytes`, copied in one piece.
    @inlinable
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

extension MutableSpan where Element == UInt8 {
    /// Overwrites the first `bytes.count` bytes; there must be so many.
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
}
