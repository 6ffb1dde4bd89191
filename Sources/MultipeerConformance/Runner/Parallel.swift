import Foundation
import MultipeerTransport

/// Runs several operations at a time, each on a thread of its own, since they block.
enum Parallel {
    /// Returns the results in the order of the elements, which are also started in that order.
    static func map<Element: Sendable, Result: Sendable>(
        _ elements: [Element], jobs: Int, _ body: @escaping @Sendable (Element) -> Result
    ) -> [Result] {
        let queue = Locked(Array(elements.enumerated().reversed()))
        let results = Locked<[(Int, Result)]>([])
        let done = DispatchGroup()
        for _ in 0..<max(1, min(jobs, elements.count)) {
            done.enter()
            let thread = Thread {
                while let (place, element) = queue.withLock({ $0.popLast() }) {
                    let result = body(element)
                    results.withLock { $0.append((place, result)) }
                }
                done.leave()
            }
            thread.stackSize = 4 << 20
            thread.start()
        }
        done.wait()
        return results.withLock { $0 }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
