import Foundation
import MultipeerTransport

/// Runs several operations at a time, each on a thread of its own, since they block.
enum Parallel {
    /// Returns the results in the order of the elements, which are also started in that order. `waits`: elements whose
    /// operations do little but wait; four times as many of these run at a time, in addition.
    static func map<Element: Sendable, Result: Sendable>(
        _ elements: [Element], jobs: Int, waits: (Element) -> Bool = { _ in false },
        _ body: @escaping @Sendable (Element) -> Result
    ) -> [Result] {
        let last = Array(elements.enumerated().reversed())
        let lists = [last.filter { !waits($0.element) }, last.filter { waits($0.element) }]
        let workers = [min(max(1, jobs), lists[0].count), min(4 * max(1, jobs), lists[1].count)]
        let queues = Locked(lists)
        let results = Locked<[(Int, Result)]>([])
        let done = DispatchGroup()
        for kind in workers.indices.flatMap({ [Int](repeating: $0, count: workers[$0]) }) {
            done.enter()
            let thread = Thread {
                while let (place, element) = queues.withLock({ $0[kind].popLast() }) {
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
