import MultipeerConnectivity
import MultipeerFigures
import MultipeerTransport

/// Very many small reads from one stream: none keeps memory, so that no read is slower than the one before it.
///
/// Memory is counted in bytes that are allocated and not freed. What each read adds to a chain or a list is among them.
struct SmallReads {
    /// What else the process allocates meanwhile.
    private static let allowedGrowth = 1_000_000
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() throws {
        try withStream { output, input in
            let bytes = [UInt8](repeating: 7, count: 4_096)
            // The first reads fill caches and pools.
            try StreamPair.send(bytes, to: output)
            try StreamPair.read(bytes.count, atOnce: 1, from: input)
            var before = Heap.allocated
            // What the session allocates once meanwhile, for its datagrams.
            var hasGrown = false
            for _ in 0..<(count / bytes.count + 1) {
                try StreamPair.send(bytes, to: output)
                try StreamPair.read(bytes.count, atOnce: 1, from: input)
                // Here, and not at the end: reads that become slower would take hours.
                if !hasGrown, Heap.allocated - before >= SmallReads.allowedGrowth {
                    before = Heap.allocated
                    hasGrown = true
                }
                let kept = Heap.allocated - before
                try MultipeerReuse.expect(kept < SmallReads.allowedGrowth, "each read keeps memory")
            }
            print("\(count) reads: \(Heap.allocated - before) bytes more than before")
        }
    }
}

/// Very much data through one stream: its speed does not decrease, and memory is bounded.
struct LongStream {
    /// In MiB.
    private static let allowedGrowth = 32
    private let mebibytes: Int

    init(mebibytes: Int) { self.mebibytes = mebibytes }

    func run() throws {
        try withStream { output, input in
            let before = try Figures()
            let quarters = try StreamPair.carry(mebibytes << 20, from: output, to: input)
            let after = try Figures()
            let rates = quarters.map { Int(Double(mebibytes << 20) / 4 / $0 / 1e6) }
            print(
                "\(mebibytes) MiB, \(rates.map(String.init).joined(separator: ", ")) MB/s in each quarter: "
                    + "\(before.memory) MiB before, \(after.memory) MiB after")
            try MultipeerReuse.expect(
                after.memory <= before.memory + LongStream.allowedGrowth, "memory is not bounded")
            // Other load on the machine may halve the speed. A cost that grows with each read makes it a tenth.
            try MultipeerReuse.expect(
                (quarters.last ?? 0) < 4 * (quarters.first ?? 0), "the stream becomes slower")
        }
    }
}

/// Calls the body with both ends of a stream between two sessions of this process.
func withStream(_ body: (OutputStream, InputStream) throws -> Void) throws {
    let (one, other) = (Party("one"), Party("other"))
    try Party.connect(one, other)
    let output = try one.session.startStream(withName: "bytes", toPeer: other.me)
    output.open()
    try body(output, other.firstStream())
}

/// Reading and writing on threads that may block.
private enum StreamPair {
    /// An output stream that a thread of its own uses.
    ///
    /// Unchecked: streams are not `Sendable`, and those of a session may be used on any thread.
    private struct Writing: @unchecked Sendable {
        let output: OutputStream
    }

    /// Moves that many bytes, and returns the seconds that each quarter of them took.
    static func carry(_ size: Int, from output: OutputStream, to input: InputStream) throws -> [Double] {
        let writing = Writing(output: output)
        Thread.detachNewThread {
            let bytes = [UInt8](repeating: 7, count: 65_536)
            for _ in 0..<(size / bytes.count) {
                // The reader reports the failure.
                do { try send(bytes, to: writing.output) } catch { return }
            }
            writing.output.close()
        }
        return try (0..<4).map { _ in
            let start = Date()
            try read(size / 4, atOnce: 65_536, from: input)
            return Date().timeIntervalSince(start)
        }
    }

    static func send(_ bytes: [UInt8], to output: OutputStream) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBufferPointer { bytes in
                bytes.baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
            }
            try MultipeerReuse.expect(count > 0, "write returned \(count)")
            rest = rest.dropFirst(count)
        }
    }

    static func read(_ size: Int, atOnce limit: Int, from input: InputStream) throws {
        var room = [UInt8](repeating: 0, count: limit)
        var left = size
        while left > 0 {
            let count = input.read(&room, maxLength: min(limit, left))
            try MultipeerReuse.expect(count > 0, "read returned \(count)")
            left -= count
        }
    }
}
