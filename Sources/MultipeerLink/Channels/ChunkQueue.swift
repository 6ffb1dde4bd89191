import MultipeerFraming

/// The bytes that wait on one channel, in the arrays in which they were passed: they are copied once, into the
/// frames.
struct ChunkQueue: Sendable {
    private var pieces: [[UInt8]] = []
    private var head = 0
    /// The number of bytes of the piece at `head` already written.
    private var offset = 0
    /// The number of waiting bytes.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Appends a piece. An empty one may only follow others.
    mutating func append(_ piece: consuming [UInt8]) {
        count += piece.count
        pieces.append(piece)
    }

    /// Appends `count` bytes and returns how many pieces they completed.
    mutating func write(_ count: Int, into output: inout ByteBuffer) -> Int {
        precondition(count <= self.count, "writing more than there is")
        var (missing, done) = (count, 0)
        while head < pieces.count {
            let piece = pieces[head]
            let rest = piece.count - offset
            let part = min(rest, missing)
            if part > 0 { output.append(piece.span.extracting(offset..<(offset + part))) }
            missing -= part
            guard part == rest else {
                offset += part
                break
            }
            advance()
            done += 1
        }
        self.count -= count
        return done
    }

    /// The number of bytes of the first piece that are not written.
    var firstCount: Int { head < pieces.count ? pieces[head].count - offset : 0 }

    /// Writes the next `count` bytes, all of the first piece, but for those that fill records of their own: these it lends.
    /// Returns also how many pieces they completed.
    mutating func lend(_ count: Int, into output: inout ByteBuffer) -> (payload: LentPayload, done: Int) {
        precondition(count <= firstCount, "lending more than the first piece has")
        let piece = pieces[head]
        let start = offset
        let copied = min(count, LentPayload.completing(output.count))
        output.append(piece.span.extracting(start..<(start + copied)))
        offset += count
        self.count -= count
        let done = write(0, into: &output)
        return (LentPayload(bytes: piece, range: (start + copied)..<(start + count)), done)
    }

    private mutating func advance() {
        pieces[head] = []
        offset = 0
        head += 1
        guard head == pieces.count || head >= Self.husks else { return }
        pieces.removeFirst(head)
        head = 0
    }

    private static let husks = 32
}
