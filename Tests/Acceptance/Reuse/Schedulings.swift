import MultipeerConnectivity
import MultipeerTransport

/// One stream that is scheduled on a run loop and removed from it very many times: nothing of that may remain.
struct Schedulings {
    /// What else the process allocates meanwhile, in bytes.
    private static let allowedGrowth = 100_000
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() throws {
        try withStream { _, input in
            // The first ones fill caches and pools.
            Schedulings.schedule(input, times: 100)
            // What the session allocates once meanwhile, for its datagrams, falls into one of four parts.
            let parts = (0..<4).map { _ in
                let before = Heap.allocated
                Schedulings.schedule(input, times: count / 4)
                return Heap.allocated - before
            }
            let kept = 4 * (parts.min() ?? 0)
            try MultipeerReuse.expect(kept < Schedulings.allowedGrowth, "\(kept) bytes are kept")
            print("scheduled \(count) times: \(kept) bytes more than before")
        }
    }

    private static func schedule(_ input: InputStream, times count: Int) {
        for _ in 0..<count {
            input.schedule(in: .current, forMode: .default)
            input.remove(from: .current, forMode: .default)
        }
    }
}
