/// A source of which any part can be read again, so that a transfer can go on where an earlier one broke.
package protocol RepeatableSource: PieceSource {
    /// Returns the bytes at a position, and does not change what `next` returns. Blocks.
    func read(at position: UInt64, _ wanted: Int) throws(FileFault) -> [UInt8]

    /// Has `next` return what follows these bytes.
    func skip(to offset: UInt64) throws(FileFault)
}
